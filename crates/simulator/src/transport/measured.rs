//! What a receiver gets from a time of the run on.

use selfclock_congestion::units::Time;

/// What had arrived by the time from which a run is measured. A receiver that is run ahead of the
/// clock passes that time with its packets, so it notes it by their arrival.
#[derive(Clone, Debug)]
pub struct Before {
    from: Time,
    /// Payload and wire bytes, once the time has passed.
    arrived: Option<(u64, u64)>,
}

impl Before {
    /// Nothing has arrived; `None` if the run is measured from its beginning.
    pub fn new(from: Time) -> Option<Box<Self>> {
        (from > Time::ZERO).then(|| Box::new(Self { from, arrived: None }))
    }

    /// A packet arrives at `now`; before it, this payload and these wire bytes have.
    pub fn note(&mut self, now: Time, payload: u64, wire: u64) {
        if now > self.from && self.arrived.is_none() {
            self.arrived = Some((payload, wire));
        }
    }

    /// Whether its time is still to come.
    pub fn is_pending(&self) -> bool {
        self.arrived.is_none()
    }
}

/// The part of this payload and these wire bytes that arrived since then.
pub fn since(before: Option<&Before>, (payload, wire): (u64, u64)) -> (u64, u64) {
    match before {
        None => (payload, wire),
        Some(Before { arrived: None, .. }) => (0, 0),
        Some(Before { arrived: Some((payload_before, wire_before)), .. }) => {
            (payload - payload_before, wire - wire_before)
        }
    }
}
