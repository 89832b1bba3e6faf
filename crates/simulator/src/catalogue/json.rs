//! The catalogue as JSON.

use super::total::{Combined, Kind, Total};
use crate::record::connections::{ConnectionsSummary, SizeClass};
use crate::record::series::{FlowSample, LinkSample, ModelSample, Quantity};
use crate::record::summary::{DERIVED, DelaySummary, FailureSummary, FlowSummary, LinkSummary, Summary};
use crate::scenario::{KeyDefault, transport_defaults};
use selfclock_congestion::Phase;
use selfclock_congestion::quantity::{Dimension, Unit, Use};
use serde_json::{Map, Value, json};

/// Everything that is declared, for programs in other languages: `units` by dimension, `totals` by
/// table, the figures `derived` from them, `series` by table, the names of `phases`, and the
/// `transport` keys with their defaults.
pub fn json() -> Value {
    let units = Dimension::ALL.map(|dimension| {
        let (name, units) = (dimension.name(), dimension.units());
        json!({ "dimension": name, "units": units.iter().map(unit).collect::<Vec<_>>() })
    });
    let totals = [
        ("SizeClass", SizeClass::TOTALS),
        ("ConnectionsSummary", ConnectionsSummary::TOTALS),
        ("DelaySummary", DelaySummary::TOTALS),
        ("FailureSummary", FailureSummary::TOTALS),
        ("FlowSummary", FlowSummary::TOTALS),
        ("LinkSummary", LinkSummary::TOTALS),
        ("Summary", Summary::TOTALS),
    ];
    let series = [
        ("flow", FlowSample::QUANTITIES),
        ("model", ModelSample::QUANTITIES),
        ("link", LinkSample::QUANTITIES),
    ];
    json!({
        "units": units,
        "totals": by_name(totals, total),
        "derived": DERIVED.iter().map(total).collect::<Vec<_>>(),
        "series": by_name(series, quantity),
        "phases": Phase::ALL.map(Phase::name),
        "transport": transport_defaults().iter().map(key).collect::<Vec<_>>(),
    })
}

/// Lists under their names.
fn by_name<T, const N: usize>(lists: [(&str, &[T]); N], row: impl Fn(&T) -> Value) -> Map<String, Value> {
    let list = |(name, rows): (&str, &[T])| (name.to_owned(), rows.iter().map(&row).collect());
    lists.map(list).into_iter().collect()
}

fn unit(unit: &Unit) -> Value {
    let Unit { name, size, used, .. } = *unit;
    let (text, figures) = match used {
        Use::Input => (false, false),
        Use::Text => (true, false),
        Use::Figures => (false, true),
        Use::TextAndFigures => (true, true),
    };
    json!({ "name": name, "size": size, "text": text, "figures": figures })
}

fn total(total: &Total) -> Value {
    let Total { name, about, kind, omitted, unit, word, heading, short, .. } = *total;
    let Total { decimals, sparse, spare, combined, udp, emulated, .. } = *total;
    let Kind { name: kind, list, null: nullable } = kind;
    json!({
        "name": name, "about": about.trim(), "kind": kind, "list": list, "null": nullable, "omitted": omitted,
        "unit": unit, "word": word, "heading": heading, "short": short, "decimals": decimals, "sparse": sparse,
        "spare": spare, "combined": combined.map(Combined::name), "udp": udp, "emulated": emulated,
    })
}

fn quantity(quantity: &Quantity) -> Value {
    let Quantity { name, about, unit, .. } = *quantity;
    json!({ "name": name, "about": about.trim(), "unit": unit })
}

fn key(default: &KeyDefault) -> Value {
    let KeyDefault { key: name, profiles: [modern, classic], below } = default;
    let below: Vec<Value> = below.iter().map(key).collect();
    json!({ "name": name, "modern": modern, "classic": classic, "below": below })
}
