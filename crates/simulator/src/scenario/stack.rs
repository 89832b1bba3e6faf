//! `stack`, and algorithms that name a stack: `quinn:bbr` is quinn's own BBR, `cubic@quinn` is
//! selfclock's CUBIC in quinn.

use selfclock_congestion::registry::{Registry, Selection};
use serde_json::{Value as Json, json};

use super::error::{Place, Problem, allowed};
use super::reader::{FromItem, Item};
use crate::stack::{self, KNOWN, Stack};

/// Keys of a `congestion_control` table that name the stack for the algorithm, and one of its own.
pub const STACK: &str = "stack";
pub const CONTROLLER: &str = "controller";

/// A stack that is built in.
#[derive(Clone, Copy, Debug)]
pub struct StackName(pub &'static dyn Stack);

impl FromItem for StackName {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        find(item.string("the name of a stack")?, &item.place).map(Self)
    }

    fn schema() -> Json {
        json!({ "enum": KNOWN })
    }
}

/// The stack of this name, or how to get it.
fn find(name: &str, place: &Place) -> Result<&'static dyn Stack, Problem> {
    if let Some(stack) = stack::named(name) {
        return Ok(stack);
    }
    if KNOWN.contains(&name) {
        return Err(place.problem(format!("stack {name:?} is not built in"), "build it in with: make quic"));
    }
    let names = KNOWN
        .into_iter()
        .chain(stack::all().into_iter().map(|stack| stack.name()).filter(|name| !KNOWN.contains(name)));
    Err(place.problem(format!("unknown stack {name:?}"), allowed(name, names)))
}

/// The algorithm of a flow.
#[derive(Clone, Debug)]
pub enum Control {
    /// One of selfclock's algorithms, in the stack if one is named.
    Ours(Box<Selection>, Option<StackName>),
    /// A congestion controller of a stack.
    Own(StackName, &'static str),
}

impl FromItem for Control {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if let Some(controller) = item.get(CONTROLLER) {
            item.only_keys(&[STACK, CONTROLLER])?;
            let Some(stack) = item.get(STACK) else {
                return Err(controller
                    .place
                    .problem("a controller of no stack", "write stack = \"quinn\" beside it"));
            };
            let name = StackName::read(&stack)?;
            let word = controller.string("the name of a controller")?;
            return Ok(Self::Own(name, controller_of(name, word, &controller.place)?));
        }
        if let Some(stack) = item.get(STACK) {
            return Ok(Self::Ours(Box::new(Selection::read(item)?), Some(StackName::read(&stack)?)));
        }
        match item.value.as_str() {
            Some(word) if item.registry.entries().all(|entry| entry.name != word) => {
                match own(item.registry, word, &item.place)? {
                    Some((stack, controller)) => Ok(Self::Own(stack, controller)),
                    None => in_stack(word, item),
                }
            }
            _ => Ok(Self::Ours(Box::new(Selection::read(item)?), None)),
        }
    }

    fn schema() -> Json {
        Selection::schema()
    }
}

/// JSON Schema of the words that name a stack and an algorithm.
pub fn word_schema() -> Json {
    json!({
        "type": "string",
        "pattern": format!("^({0}):[a-z_]+$|^[^@]+@({0})$", KNOWN.join("|")),
        "description": "A congestion controller of a stack, as \"quinn:bbr\", or one of ours in a stack, as \"cubic@quinn\".",
    })
}

/// The controller of a stack named by `stack:controller`; `None` for any other word.
///
/// Before the colon is a selfclock algorithm, followed by settings, or a stack.
pub fn own(
    registry: &Registry,
    word: &str,
    place: &Place,
) -> Result<Option<(StackName, &'static str)>, Problem> {
    let Some((name, controller)) = word.split_once(':') else { return Ok(None) };
    let is_stack = KNOWN.contains(&name) || stack::named(name).is_some();
    if controller.contains('=') || (!is_stack && (name.contains('@') || registry.select(name).is_ok())) {
        return Ok(None);
    }
    let name = StackName(find(name, place)?);
    Ok(Some((name, controller_of(name, controller, place)?)))
}

fn controller_of(
    StackName(stack): StackName,
    controller: &str,
    place: &Place,
) -> Result<&'static str, Problem> {
    let own = stack.controllers().iter().copied();
    match own.clone().find(|own| *own == controller) {
        Some(controller) => Ok(controller),
        None => {
            let message = match stack.refuses(controller) {
                Some(reason) => format!("{} cannot run its {controller:?} here: {reason}", stack.name()),
                None => format!("{} has no congestion controller {controller:?}", stack.name()),
            };
            Err(place.problem(message, allowed(controller, own)))
        }
    }
}

/// Splits `label@stack`; `None` without a stack.
pub fn split<'a>(registry: &Registry, label: &'a str) -> Option<(&'a str, &'a str)> {
    label.rsplit_once('@').filter(|_| registry.entries().all(|entry| entry.name != label))
}

fn in_stack(word: &str, item: &Item<'_>) -> Result<Control, Problem> {
    let Some((label, stack)) = split(item.registry, word) else {
        return Ok(Control::Ours(Box::new(Selection::read(item)?), None));
    };
    let stack = find(stack, &item.place)?;
    let control = item.registry.select(label).map_err(|error| item.place.problem(error.to_string(), ""))?;
    Ok(Control::Ours(Box::new(control), Some(StackName(stack))))
}
