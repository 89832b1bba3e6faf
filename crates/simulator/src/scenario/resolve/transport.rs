//! Transport settings: a profile, then the settings of all flows, then those of one.

use selfclock_congestion::units::Bytes;

use crate::plan::{self, DelayedAck, MisbehaviourPlan, PlanError, RetransmissionTimer, Shaper, Transport};
use crate::scenario::error::{Place, Problem};
use crate::scenario::reader::{Located, Maybe};
use crate::scenario::table::Profile;
use crate::scenario::table::transport::{
    DelayedAckTable, InitialWindow, MisbehaviourTable, ReceiveWindow, TimerTable, TransportTable,
};
use crate::scenario::table::value::OrOff;

/// The settings of a connection. Later layers override earlier ones.
pub fn transport(profile: Profile, layers: &[&TransportTable]) -> Result<Transport, Problem> {
    let mut transport = match profile {
        Profile::Modern => Transport::modern(),
        Profile::Classic => Transport::classic(),
    };
    // Windows follow the MSS, whichever layer sets it.
    let mut window = match transport.receive_window {
        plan::ReceiveWindow::Auto => ReceiveWindow::Auto,
        plan::ReceiveWindow::Fixed(size) => {
            ReceiveWindow::Segments(size.get() as f64 / transport.mss.get() as f64)
        }
    };
    let mut initial_window = InitialWindow::Segments(transport.initial_window);
    for layer in layers {
        overlay(&mut transport, layer);
        set(&mut window, &layer.receive_window, |window| *window);
        set(&mut initial_window, &layer.initial_window, |window| *window);
    }
    transport.initial_window = initial_window.segments(transport.mss);
    transport.receive_window = match window {
        ReceiveWindow::Unlimited => plan::ReceiveWindow::UNLIMITED,
        ReceiveWindow::Auto => plan::ReceiveWindow::Auto,
        ReceiveWindow::Bytes(size) => plan::ReceiveWindow::Fixed(size),
        ReceiveWindow::Segments(segments) => {
            plan::ReceiveWindow::Fixed(Bytes((segments * transport.mss.get() as f64) as u64))
        }
    };
    // The profile's undo is for what shows a loss to be spurious: without any, there is nothing to
    // do.
    if layers.iter().all(|layer| layer.undo.is_none()) {
        transport.undo &= transport.detects_spurious();
    }
    check(&transport, layers)?;
    Ok(transport)
}

fn set<T, U>(target: &mut U, written: &Maybe<T>, value: impl Fn(&T) -> U) {
    if let Some(written) = written {
        *target = value(&written.value);
    }
}

fn overlay(transport: &mut Transport, layer: &TransportTable) {
    set(&mut transport.mss, &layer.mss, |size| size.0);
    set(&mut transport.header, &layer.header, |size| size.0);
    set(&mut transport.ack, &layer.ack, |size| size.0);
    set(&mut transport.recovery, &layer.recovery, |recovery| *recovery);
    set(&mut transport.prr, &layer.prr, |on| *on);
    set(&mut transport.limited_transmit, &layer.limited_transmit, |on| *on);
    set(&mut transport.one_recovery_per_window, &layer.one_recovery_per_window, |on| *on);
    set(&mut transport.initial_ssthresh, &layer.initial_ssthresh, |threshold| threshold.0);
    set(&mut transport.window_scaling, &layer.window_scaling, |on| *on);
    set(&mut transport.handshake, &layer.handshake, |on| *on);
    set(&mut transport.timestamps, &layer.timestamps, |on| *on);
    set(&mut transport.dsack, &layer.dsack, |on| *on);
    set(&mut transport.undo, &layer.undo, |on| *on);
    set(&mut transport.frto, &layer.frto, |on| *on);
    set(&mut transport.syn_timeouts, &layer.syn_timeouts, |timeouts| timeouts.0);
    set(&mut transport.ecn, &layer.ecn, |ecn| *ecn);
    set(&mut transport.grow_only_when_limited, &layer.grow_only_when_limited, |on| *on);
    set(&mut transport.byte_counting, &layer.byte_counting, |on| *on);
    set(&mut transport.restart_after_idle, &layer.restart_after_idle, |on| *on);
    set(&mut transport.encrypted, &layer.encrypted, |on| *on);
    set(&mut transport.peer_knows_option, &layer.peer_knows_option, |on| *on);
    set(&mut transport.pacing_gain, &layer.pacing_gain, |gain| match gain {
        OrOff::Off => None,
        OrOff::On(gain) => Some(gain.0),
    });
    set(&mut transport.pacing_credit, &layer.pacing_credit, |on| *on);
    set(&mut transport.shaper, &layer.shaper, |shaper| match shaper {
        OrOff::Off => None,
        OrOff::On(shaper) => Some(Shaper { rate: shaper.rate.value, burst: shaper.burst.value.0 }),
    });
    match layer.delayed_ack.as_ref().map(|written| &written.value) {
        Some(OrOff::Off) => transport.delayed_ack.every = 1,
        Some(OrOff::On(written)) => overlay_delayed_ack(&mut transport.delayed_ack, written),
        None => {}
    }
    if let Some(misbehaviour) = &layer.misbehaviour {
        let plan = transport.misbehaviour.get_or_insert(MisbehaviourPlan::NONE);
        overlay_misbehaviour(plan, &misbehaviour.value);
    }
    if let Some(timer) = &layer.timer {
        overlay_timer(&mut transport.timer, &timer.value);
    }
}

fn overlay_delayed_ack(delayed_ack: &mut DelayedAck, written: &DelayedAckTable) {
    set(&mut delayed_ack.every, &written.every, |every| every.0);
    set(&mut delayed_ack.timer, &written.timer, |span| span.0);
    set(&mut delayed_ack.clock, &written.clock, |clock| *clock);
    set(&mut delayed_ack.quick, &written.quick, |quick| *quick);
}

fn overlay_misbehaviour(misbehaviour: &mut MisbehaviourPlan, written: &MisbehaviourTable) {
    set(&mut misbehaviour.parts, &written.ack_parts, |parts| parts.0);
    set(&mut misbehaviour.ahead, &written.ack_ahead, |ahead| match ahead {
        OrOff::Off => None,
        OrOff::On(segments) => Some(segments.0),
    });
    set(&mut misbehaviour.repeats, &written.ack_repeats, |repeats| repeats.0);
    set(&mut misbehaviour.renege_every, &written.renege_every, |every| match every {
        OrOff::Off => None,
        OrOff::On(every) => Some(every.0),
    });
    set(&mut misbehaviour.interval_factor, &written.interval_factor, |factor| factor.0);
}

fn overlay_timer(timer: &mut RetransmissionTimer, written: &TimerTable) {
    set(&mut timer.initial, &written.initial, |span| span.0);
    set(&mut timer.minimum, &written.minimum, |span| *span);
    set(&mut timer.maximum, &written.maximum, |span| span.0);
    set(&mut timer.granularity, &written.granularity, |span| *span);
    set(&mut timer.backoff, &written.backoff, |factor| factor.0);
    set(&mut timer.linear_syn_timeouts, &written.linear_syn_timeouts, |timeouts| timeouts.0);
    set(&mut timer.arithmetic, &written.arithmetic, |arithmetic| *arithmetic);
    set(&mut timer.samples, &written.samples, |samples| *samples);
}

/// Checks across several keys.
fn check(transport: &Transport, layers: &[&TransportTable]) -> Result<(), Problem> {
    transport.check().map_err(|error| {
        error.at(&match error {
            PlanError::ReceiveWindow { .. } => last_place(layers, |layer| place(&layer.receive_window)),
            PlanError::Undo => last_place(layers, |layer| place(&layer.undo)),
            _ => last_place(layers, |layer| place(&layer.timer)),
        })
    })
}

fn place<T>(written: &Maybe<T>) -> Option<&Place> {
    written.as_ref().map(|Located { place, .. }| place)
}

/// Place of the effective value.
fn last_place(layers: &[&TransportTable], place: impl Fn(&TransportTable) -> Option<&Place>) -> Place {
    layers.iter().rev().find_map(|layer| place(layer)).cloned().unwrap_or_default()
}
