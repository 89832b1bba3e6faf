//! Transport settings: a profile, then the settings of all flows, then those of one.

use selfclock_congestion::units::Bytes;

use crate::plan::{self, PlanError, Transport};
use crate::scenario::error::{Place, Problem};
use crate::scenario::layer::Layer as _;
use crate::scenario::reader::{Located, Maybe, value_or};
use crate::scenario::table::Profile;
use crate::scenario::table::transport::{InitialWindow, ReceiveWindow, TransportTable};

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
        layer.overlay(&mut transport);
        window = value_or(&layer.receive_window, window);
        initial_window = value_or(&layer.initial_window, initial_window);
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
