//! Flows before they have a place in a network.

use selfclock_congestion::registry::{LabelError, Selection};
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

use crate::plan::assemble::{USUAL_PACKET, check_marks};
use crate::plan::{
    Arrivals, ConnectionsPlan, PlanError, Protocol, SizeDistribution, Source, TcpPlan, Transport, UdpPlan,
};

/// A flow's payload.
#[derive(Clone, Debug)]
enum Carries {
    Tcp(Box<Tcp>),
    Udp(UdpPlan),
}

#[derive(Clone, Debug)]
struct Tcp {
    control: Result<Selection, LabelError>,
    traffic: Traffic,
    /// `None` for the settings of all flows.
    transport: Option<Transport>,
}

#[derive(Clone, Debug)]
enum Traffic {
    One(Source),
    Many { interval: Duration, size: SizeDistribution },
}

/// A flow: its protocol, start and stop.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) name: Option<String>,
    pub(super) ends: Option<(String, String)>,
    pub(super) start: Duration,
    pub(super) start_jitter: Duration,
    pub(super) stop: Time,
    pub(super) dscp: u8,
    pub(super) group: Option<String>,
    carries: Carries,
}

impl From<Carries> for Flow {
    fn from(carries: Carries) -> Self {
        Self {
            name: None,
            ends: None,
            start: Duration::ZERO,
            start_jitter: Duration::ZERO,
            stop: Time::NEVER,
            dscp: 0,
            group: None,
            carries,
        }
    }
}

/// TCP under the algorithm of a label.
impl From<&str> for Flow {
    fn from(label: &str) -> Self {
        tcp(label)
    }
}

/// TCP under an algorithm with non-default parameters, or a user-defined one.
impl From<Selection> for Flow {
    fn from(control: Selection) -> Self {
        tcp_under(Ok(control))
    }
}

/// UDP.
impl From<UdpPlan> for Flow {
    fn from(udp: UdpPlan) -> Self {
        Carries::Udp(udp).into()
    }
}

/// One greedy TCP connection under the algorithm of a label.
pub fn tcp(label: &str) -> Flow {
    tcp_under(Selection::from_label(label))
}

fn tcp_under(control: Result<Selection, LabelError>) -> Flow {
    Carries::Tcp(Box::new(Tcp { control, traffic: Traffic::One(Source::Bulk), transport: None })).into()
}

/// UDP packets of 1500 B at a constant rate.
pub fn udp(rate: Rate) -> Flow {
    UdpPlan::steady(USUAL_PACKET, rate, Arrivals::Constant).into()
}

impl Flow {
    /// Sets the name in records.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Sets source and destination node, by name.
    #[must_use]
    pub fn between(mut self, from: &str, to: &str) -> Self {
        self.ends = Some((from.to_owned(), to.to_owned()));
        self
    }

    /// Sets the start time.
    #[must_use]
    pub const fn start(mut self, start: Duration) -> Self {
        self.start = start;
        self
    }

    /// Delays the start by a uniform random time below this.
    #[must_use]
    pub const fn start_jitter(mut self, jitter: Duration) -> Self {
        self.start_jitter = jitter;
        self
    }

    /// Sets the stop time.
    #[must_use]
    pub const fn stop(mut self, stop: Duration) -> Self {
        self.stop = Time::ZERO.after(stop);
        self
    }

    /// Sets the differentiated services codepoint of its packets.
    #[must_use]
    pub const fn dscp(mut self, dscp: u8) -> Self {
        self.dscp = dscp;
        self
    }

    /// Makes it a member of a group of flows that share their knowledge of the path.
    #[must_use]
    pub fn group(mut self, name: &str) -> Self {
        self.group = Some(name.to_owned());
        self
    }

    /// TCP: replaces the settings of all flows by these.
    #[must_use]
    pub fn transport(mut self, settings: Transport) -> Self {
        if let Carries::Tcp(tcp) = &mut self.carries {
            tcp.transport = Some(settings);
        }
        self
    }

    /// TCP: sets the source of data.
    #[must_use]
    pub fn source(self, source: Source) -> Self {
        self.carries(Traffic::One(source))
    }

    /// TCP: sets the amount of data.
    #[must_use]
    pub fn size(self, size: Bytes) -> Self {
        self.source(Source::Size(size))
    }

    /// TCP: sets the application's data rate, as far as the connection carries it.
    #[must_use]
    pub fn rate(self, rate: Rate) -> Self {
        self.source(Source::Rate(rate))
    }

    /// TCP: data at this rate, written in pieces of this size, rounded up to whole segments.
    #[must_use]
    pub fn writes(self, rate: Rate, size: Bytes) -> Self {
        self.source(Source::Writes { rate, size })
    }

    /// TCP: short connections of these sizes, which start at random, a mean `interval` apart.
    #[must_use]
    pub fn connections(self, interval: Duration, size: SizeDistribution) -> Self {
        self.carries(Traffic::Many { interval, size })
    }

    fn carries(mut self, traffic: Traffic) -> Self {
        if let Carries::Tcp(tcp) = &mut self.carries {
            tcp.traffic = traffic;
        }
        self
    }

    /// The protocol, with the settings of all flows unless it has its own.
    pub(super) fn protocol(&self, usual: &Transport) -> Result<Protocol, PlanError> {
        let tcp = match &self.carries {
            Carries::Udp(udp) => return Ok(Protocol::Udp(Box::new(udp.clone()))),
            Carries::Tcp(tcp) => tcp,
        };
        let control = tcp.control.clone()?;
        let transport = tcp.transport.as_ref().unwrap_or(usual).clone();
        transport.check()?;
        check_marks(&control, transport.ecn)?;
        let plan = |source| TcpPlan { control_name: control.label(), control, source, transport };
        Ok(match tcp.traffic.clone() {
            Traffic::One(source) => Protocol::Tcp(plan(source).into()),
            Traffic::Many { interval, size } => {
                Protocol::Connections(Box::new(ConnectionsPlan { tcp: plan(Source::Bulk), interval, size }))
            }
        })
    }
}
