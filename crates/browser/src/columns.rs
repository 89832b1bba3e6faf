//! Series as arrays: a column for each quantity of each flow and link.

use selfclock_congestion::Phase;
use selfclock_simulator::Outcome;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::series::Column;
use serde_json::{Map, Value, json};

use crate::reply::Arrays;

/// The series of a run: sample times, and for each flow and link a table of columns; null for a
/// flow without samples.
pub fn columns(plan: &Plan, outcome: &Outcome, arrays: &mut Arrays) -> Value {
    let flows = outcome.flow_series.columns();
    let links = outcome.link_series.columns();
    let samples = whole_rows(&links.time_s, &links.link, outcome.summary.simulated_s);
    let samples = if flows.flow.is_empty() {
        samples
    } else {
        samples.min(whole_rows(&flows.time_s, &flows.flow, outcome.summary.simulated_s))
    };
    let time_s = arrays.reals(links.time_s[..samples].iter().copied());
    let (of_flows, of_links) = (first_rows(&flows.flow), first_rows(&links.link));
    let (flows, links) = (flows.quantities(), links.quantities());
    let mut table = |row: Option<usize>, quantities: &[(&'static str, Column)]| match row {
        None => Value::Null,
        Some(row) => {
            let range = row..row + samples;
            let columns = quantities.iter().map(|(name, column)| {
                let array = match column {
                    Column::Reals(values) => arrays.reals(values[range.clone()].iter().copied()),
                    Column::Counts(values) => {
                        arrays.reals(values[range.clone()].iter().map(|&count| count as f64))
                    }
                    Column::Phases(values) => {
                        arrays.reals(values[range.clone()].iter().map(|&phase| phase.into()))
                    }
                };
                ((*name).to_owned(), array)
            });
            Value::Object(columns.collect::<Map<_, _>>())
        }
    };
    let row = |rows: &[(u32, usize)], index: usize| {
        let place = rows.binary_search_by_key(&index, |&(owner, _)| owner as usize);
        place.ok().map(|place| rows[place].1)
    };
    let flows: Vec<Value> = (0..plan.flows.len()).map(|flow| table(row(&of_flows, flow), &flows)).collect();
    let links: Vec<Value> =
        (0..plan.links.len()).map(|link| table(row(&of_links, link).or(Some(0)), &links)).collect();
    json!({ "time_s": time_s, "flows": flows, "links": links, "phases": Phase::ALL.map(Phase::name) })
}

/// Number of samples that each owner has. Links are served ahead of the clock: during a run some
/// have samples of future times.
fn whole_rows(times_s: &[f64], owners: &[u32], now_s: f64) -> usize {
    let of_first =
        times_s.iter().zip(owners).take_while(|&(&time, owner)| *owner == owners[0] && time <= now_s);
    of_first.count()
}

/// The owners in a column, in their order, each with the row at which it begins.
fn first_rows(owners: &[u32]) -> Vec<(u32, usize)> {
    let mut rows: Vec<(u32, usize)> = Vec::new();
    for (row, &owner) in owners.iter().enumerate() {
        if rows.last().is_none_or(|&(last, _)| last != owner) {
            rows.push((owner, row));
        }
    }
    rows
}
