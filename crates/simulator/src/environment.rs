//! A run stepped from outside: each step starts with a window and pacing for one connection, and
//! ends with its observations. For reinforcement learning, and other external controllers.

use crate::plan::{Plan, Protocol};
use crate::simulation::{Simulation, Stopped};
use crate::transport::TIMESTAMPS_OPTION;
use selfclock_congestion::RateSample;
use selfclock_congestion::controller::Controller;
use selfclock_congestion::custom::Custom;
use selfclock_congestion::decision::Pacing;
use selfclock_congestion::entry::{Entry, Marks};
use selfclock_congestion::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, Sent, Timeout,
};
use selfclock_congestion::parameter::{ParameterError, Value};
use selfclock_congestion::part::ModelPart;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::state::WindowState;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// The controlled flow's algorithm in records.
pub const NAME: &str = "agent";

/// State at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Command {
    /// Congestion window in segments; clamped to between 1 and 1e9.
    pub window: f64,
    /// Pacing rate on the wire, bit/s; `None` leaves it to the ACK clock.
    pub pacing_bps: Option<f64>,
}

/// Declares a step's observations: the struct, the names of its fields, and their values in the
/// same order.
macro_rules! step {
    ($($(#[doc = $about:literal])+ $field:ident,)+) => {
        /// A controlled connection's observations in a step. Bytes are payload.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Step {
            $($(#[doc = $about])+ pub $field: f64,)+
        }

        impl Step {
            /// The names of the fields.
            pub const FIELDS: &[&str] = &[$(stringify!($field)),+];
            /// The values, in the order of [`Step::FIELDS`].
            pub const fn values(&self) -> [f64; Self::FIELDS.len()] {
                [$(self.$field),+]
            }
        }
    };
}

step! {
    /// Simulated time at its end.
    now_s,
    /// Length of the step.
    length_s,
    /// Sent, retransmissions included.
    sent_bytes,
    /// Acknowledged or SACKed.
    delivered_bytes,
    /// Marked lost.
    lost_bytes,
    /// Reported as CE-marked (accurate ECN feedback).
    marked_bytes,
    /// Echoes of CE marks (RFC 3168), at most one per window of data.
    ecn_echoes,
    /// RTOs. After one the window is one segment until the next step.
    timeouts,
    /// Mean of the RTT samples; without any, the last one; zero before the first.
    rtt_s,
    /// Smallest round-trip time of the connection so far; zero before the first.
    rtt_min_s,
    /// Window at the end, segments.
    window_segments,
    /// Pacing rate on the wire, bit/s; zero without pacing.
    pacing_bps,
    /// In flight at the end.
    in_flight_bytes,
    /// 1 if the run is over, else 0.
    over,
    /// 1 if everything that the application had to send has been acknowledged, else 0.
    complete,
}

/// Why a flow cannot be steered.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotSteerable {
    /// No such name.
    #[error("no flow is named {name:?}; there are {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Valid flow names.
        known: Vec<String>,
    },
    /// The flow is UDP, or consists of short connections.
    #[error("flow {0:?} is not one TCP connection, and only such a flow can be steered")]
    NotOneConnection(String),
    /// A run with a connection of a foreign stack cannot be copied, which steering requires.
    #[error("flow {0:?} is of a foreign stack, and a run with one cannot be steered")]
    ForeignStack(String),
    /// The run ends before it starts.
    #[error("flow {0:?} starts when the run is over")]
    StartsTooLate(String),
    /// The run stops before it starts.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The algorithm of a steered connection. It only applies the rule common to all algorithms: after
/// a timeout the window is one segment.
#[derive(Clone, Copy, Debug, Default)]
struct Steered {
    pacing_bps: Option<f64>,
    /// State of the current step; totals are completed at its end.
    step: Step,
    rtt_sum_s: f64,
    rtt_samples: u32,
    last_rtt: Duration,
    minimum_rtt: Option<Duration>,
}

impl Custom for Steered {
    type Part = Self;

    fn entry(&self) -> Entry {
        Entry { name: NAME, marks: Marks::Once, ..Entry::MODEL }
    }
    fn set(&mut self, _name: &str, _value: Value<'_>) -> Result<(), ParameterError> {
        Err(ParameterError::Unknown)
    }
    fn build(&self) -> Self {
        *self
    }
}

impl Steered {
    fn note_rtt(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.rtt_sum_s += rtt.seconds();
            self.rtt_samples += 1;
            self.last_rtt = rtt;
            self.minimum_rtt = Some(self.minimum_rtt.map_or(rtt, |minimum| minimum.min(rtt)));
        }
    }
    fn note_delivery(&mut self, marked: Bytes, in_flight: Bytes, rate: Option<RateSample>) {
        self.step.marked_bytes += marked.get() as f64;
        self.step.in_flight_bytes = in_flight.get() as f64;
        if let Some(rate) = rate {
            self.step.delivered_bytes += rate.newly_acked.get() as f64;
            self.step.lost_bytes += rate.newly_lost.get() as f64;
        }
    }
    /// A step begins.
    fn begin(&mut self, state: &mut WindowState, command: Command) {
        state.cwnd = command.window;
        self.pacing_bps = command.pacing_bps;
        self.step = Step { in_flight_bytes: self.step.in_flight_bytes, ..Step::default() };
        (self.rtt_sum_s, self.rtt_samples) = (0.0, 0);
    }
    /// The observation at the end of a step.
    fn step(&self, window_segments: f64) -> Step {
        let rtt_s = match self.rtt_samples {
            0 => self.last_rtt.seconds(),
            samples => self.rtt_sum_s / f64::from(samples),
        };
        Step {
            rtt_s,
            rtt_min_s: self.minimum_rtt.unwrap_or_default().seconds(),
            window_segments,
            pacing_bps: self.pacing_bps.unwrap_or(0.0),
            ..self.step
        }
    }
}

impl ModelPart for Steered {
    fn wants_rate_samples(&self) -> bool {
        true
    }
    fn on_established(&mut self, event: &Established, _state: &mut WindowState) {
        self.note_rtt(event.rtt);
    }
    fn on_ack(&mut self, event: &Acknowledged, _state: &mut WindowState) {
        self.note_rtt(event.rtt);
        self.note_delivery(event.marked, event.in_flight, event.rate);
    }
    fn on_duplicate_ack(&mut self, event: &DuplicateAck, _state: &mut WindowState) {
        self.note_rtt(event.rtt);
        self.note_delivery(event.marked, event.in_flight, event.rate);
    }
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {}
    fn on_ecn_echo(&mut self, _event: &EcnEcho, _state: &mut WindowState) {
        self.step.ecn_echoes += 1.0;
    }
    fn on_timeout(&mut self, _event: &Timeout, _state: &mut WindowState) {
        self.step.timeouts += 1.0;
    }
    fn on_sent(&mut self, event: &Sent, _state: &mut WindowState) {
        self.step.sent_bytes += event.size.get() as f64;
        self.step.in_flight_bytes = event.in_flight.get() as f64;
    }
    fn owns_window_in_recovery(&self) -> bool {
        true
    }
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        self.pacing_bps.map(|rate| Pacing::at_wire_rate(rate, state.full_segment_on_wire()))
    }
}

/// A run with one steered flow. A value, like a simulation: a clone continues from the same state.
#[derive(Clone, Debug)]
pub struct Environment {
    plan: Plan,
    simulation: Simulation,
    flow: usize,
    /// End of the last step.
    stepped: Time,
}

impl Environment {
    /// The run of a plan up to the start of the named flow, which is steered, whatever its
    /// algorithm in the plan.
    ///
    /// Its window is always in force: proportional rate reduction, by which the transport lowers a
    /// window in recovery, is off, as in Linux for an algorithm that sets its window itself
    /// (`cong_control`).
    pub fn new(plan: &Plan, flow: &str) -> Result<Self, NotSteerable> {
        let mut plan = plan.clone();
        let index =
            plan.flows.iter().position(|other| other.name == flow).ok_or_else(|| NotSteerable::Unknown {
                name: flow.to_owned(),
                known: plan.flows.iter().map(|other| other.name.to_string()).collect(),
            })?;
        if let Some(foreign) = plan.flows.iter().find(|flow| matches!(flow.protocol, Protocol::Stack(_))) {
            return Err(NotSteerable::ForeignStack(foreign.name.to_string()));
        }
        let Protocol::Tcp(tcp) = &mut plan.flows[index].protocol else {
            return Err(NotSteerable::NotOneConnection(flow.to_owned()));
        };
        tcp.control = Selection::custom(Steered::default());
        tcp.control_name = NAME.to_owned();
        let mut simulation = Simulation::new(&plan);
        let start = simulation.start_of(index);
        if start >= simulation.end() {
            return Err(NotSteerable::StartsTooLate(flow.to_owned()));
        }
        // The first step decides on the first segment.
        if start > Time::ZERO {
            simulation.advance_until(Time::from_picoseconds(start.picoseconds() - 1))?;
        }
        let stepped = simulation.now();
        Ok(Self { plan, simulation, flow: index, stepped })
    }

    /// The plan of the run, including the steered flow.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The run.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The smallest rate on the steered flow's data path, at the beginning of the run.
    pub fn path_rate(&self) -> Rate {
        let links = self.plan.flows[self.flow].forward.iter().map(|&link| self.plan.links[link].rate);
        links.min().unwrap_or_default()
    }

    /// RTT of a full segment and its ACK on the empty path, at the start.
    pub fn path_rtt(&self) -> Duration {
        let flow = &self.plan.flows[self.flow];
        let Some(tcp) = flow.protocol.tcp() else { return Duration::ZERO };
        let option = if tcp.transport.timestamps { Bytes(TIMESTAMPS_OPTION.into()) } else { Bytes::ZERO };
        let over = |links: &[usize], size: Bytes| {
            let links = links.iter().map(|&link| &self.plan.links[link]);
            links.fold(Duration::ZERO, |sum, link| sum + link.delay + link.rate.transmission_time(size))
        };
        let segment = tcp.transport.mss + tcp.transport.header + option;
        over(&flow.forward, segment) + over(&flow.reverse, tcp.transport.ack + option)
    }

    /// Payload of a full segment of the steered flow.
    pub fn mss(&self) -> Bytes {
        self.plan.flows[self.flow].protocol.tcp().map_or(Bytes::ZERO, |tcp| tcp.transport.mss)
    }

    /// The observation at the start, before any event.
    pub fn look(&self) -> Step {
        let controller = self.simulation.controller(self.flow);
        let seen = controller.and_then(|controller| {
            let window = controller.snapshot().cwnd_segments;
            controller.custom::<Steered>().map(|steered| steered.step(window))
        });
        Step {
            now_s: self.simulation.now().seconds(),
            length_s: self.simulation.now().since(self.stepped).seconds(),
            over: f64::from(u8::from(self.simulation.now() == self.simulation.end())),
            complete: f64::from(u8::from(self.simulation.completed(self.flow).is_some())),
            ..seen.unwrap_or_default()
        }
    }

    /// Sets window and pacing, runs for `length` or to the end of the run, and returns the
    /// observations.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn step(&mut self, command: Command, length: Duration) -> Result<Step, Stopped> {
        self.simulation.steer(self.flow, |now, controller: &mut Controller| {
            controller.steer(now, |steered: &mut Steered, state| steered.begin(state, command));
        });
        self.stepped = self.simulation.now();
        let left = self.simulation.end().since(self.stepped);
        self.simulation.advance_until(self.stepped + length.min(left))?;
        Ok(self.look())
    }
}
