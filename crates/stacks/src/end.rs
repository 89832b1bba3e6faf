//! One end of a connection: an endpoint of the stack with one connection, and an application that
//! writes or reads one stream.
//!
//! Compiled once for each stack: their interfaces are alike up to differences that `shim` hides.

use super::{proto, shim};
use crate::clock;
use crate::meter::Meter;
use crate::tls::{KeyLog, Random};
use bytes::{Bytes, BytesMut};
use proto::{Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Event, StreamEvent, StreamId};
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::stack::{Codepoint, Endpoint, State};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Data for applications to write, shared by all connections.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Send buffer in bytes, in addition to twice the window, which follows Linux's sizing for TCP.
const LEAST_BUFFER: u64 = 1 << 16;

/// Default pacing of both stacks, in windows per round trip.
const WINDOWS_PER_ROUND_TRIP: f64 = 1.25;

/// One end.
pub struct End {
    endpoint: proto::Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    random: Random,
    meter: Arc<Meter>,
    /// Only at the receiving end.
    key_log: KeyLog,
    /// Datagrams sent by the endpoint itself, before or after the connection.
    answers: VecDeque<(Vec<u8>, Codepoint)>,
    /// The data stream.
    stream: Option<StreamId>,
    /// Whether this end sends the data.
    sends: bool,
    connected: bool,
    /// Whether the application wants to end the stream as soon as it is open.
    finishing: bool,
    complete: bool,
    failure: Option<String>,
}

impl fmt::Debug for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("End")
            .field("sends", &self.sends)
            .field("meter", &self.meter)
            .finish_non_exhaustive()
    }
}

impl End {
    /// The sending end, with its connection started.
    pub fn sender(
        endpoint: proto::Endpoint,
        connection: (ConnectionHandle, Connection),
        random: Random,
        meter: Arc<Meter>,
    ) -> Self {
        Self {
            connection: Some(connection),
            sends: true,
            ..Self::receiver(endpoint, random, meter, KeyLog::default())
        }
    }

    /// The receiving end, waiting for a connection.
    pub fn receiver(endpoint: proto::Endpoint, random: Random, meter: Arc<Meter>, key_log: KeyLog) -> Self {
        Self {
            endpoint,
            connection: None,
            random,
            meter,
            key_log,
            answers: VecDeque::new(),
            stream: None,
            sends: false,
            connected: false,
            finishing: false,
            complete: false,
            failure: None,
        }
    }

    fn handle(&mut self, now: Instant, event: DatagramEvent, mut answer: Vec<u8>) {
        match event {
            DatagramEvent::ConnectionEvent(_, event) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            DatagramEvent::NewConnection(incoming) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, now, &mut answer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => self.failure = Some(shim::accept_error(&error)),
                }
            }
            // A late second Initial of the same connection, which the stack also ignores.
            DatagramEvent::NewConnection(incoming) => self.endpoint.ignore(incoming),
            DatagramEvent::Response(transmit) => {
                answer.truncate(transmit.size);
                self.answers.push_back((answer, codepoint(transmit.ecn)));
            }
        }
    }

    /// Passes events between connection, endpoint and application until there are none.
    fn settle(&mut self) {
        while let Some((handle, connection)) = &mut self.connection {
            if let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            } else if let Some(event) = connection.poll() {
                self.on_event(event);
            } else {
                return;
            }
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Connected => {
                self.connected = true;
                self.open();
            }
            Event::ConnectionLost { reason } => self.failure = Some(reason.to_string()),
            Event::Stream(StreamEvent::Opened { .. } | StreamEvent::Readable { .. }) => self.read(),
            Event::Stream(StreamEvent::Finished { .. }) => self.complete = true,
            _ => {}
        }
    }

    /// Rate of a pacer that follows the window, bit/s.
    fn paced_by_window(&self, window: u64) -> Option<f64> {
        let round_trip = self.meter.smoothed()?.as_secs_f64();
        Some(WINDOWS_PER_ROUND_TRIP * window as f64 * 8.0 / round_trip)
    }

    /// The sending application opens its stream.
    fn open(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.sends && self.connected && self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
            if self.finishing {
                self.finish();
            }
        }
    }

    /// The receiving application reads all available data.
    fn read(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        let mut receiver = connection.recv_stream(stream);
        let Ok(mut chunks) = receiver.read(true) else { return };
        let mut bytes = 0;
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            bytes += chunk.bytes.len() as u64;
        }
        // The next poll determines whether there is something to send.
        let _ = chunks.finalize();
        self.meter.read.fetch_add(bytes, Relaxed);
    }
}

impl Endpoint for End {
    fn on_datagram(&mut self, now: Time, datagram: &[u8], ecn: Codepoint) {
        let now = clock::instant(now);
        let mut answer = Vec::new();
        let mut random = std::mem::replace(&mut self.random, Random::new(0, 0));
        random.during(|| {
            let ecn = EcnCodepoint::from_bits(ecn as u8);
            let event = shim::handle(&mut self.endpoint, now, ecn, BytesMut::from(datagram), &mut answer);
            if let Some(event) = event {
                self.handle(now, event, answer);
            }
            self.settle();
        });
        self.random = random;
    }

    fn on_timer(&mut self, now: Time) {
        let Some((_, connection)) = &mut self.connection else { return };
        self.random.during(|| connection.handle_timeout(clock::instant(now)));
        self.settle();
    }

    fn poll_datagram(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Codepoint> {
        if let Some((answer, codepoint)) = self.answers.pop_front() {
            buffer.extend_from_slice(&answer);
            return Some(codepoint);
        }
        let (_, connection) = self.connection.as_mut()?;
        let transmit = self.random.during(|| shim::poll_transmit(connection, clock::instant(now), buffer));
        self.settle();
        transmit.map(|transmit| codepoint(transmit.ecn))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        let (_, connection) = self.connection.as_mut()?;
        connection.poll_timeout().map(clock::time)
    }

    fn write(&mut self, bytes: u64) -> u64 {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else { return 0 };
        let window = shim::controller(connection).map_or(0, |controller| controller.window());
        connection.set_send_window(window.saturating_mul(2).saturating_add(LEAST_BUFFER));
        let mut written = 0;
        while written < bytes {
            let piece = (bytes - written).min(ZEROS.len() as u64) as usize;
            match shim::write(&mut connection.send_stream(stream), Bytes::from_static(&ZEROS[..piece])) {
                Some(taken) if taken > 0 => written += taken as u64,
                _ => break,
            }
        }
        written
    }

    fn finish(&mut self) {
        self.finishing = true;
        if let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) {
            // An error means that the stream has ended otherwise, as `failure` or `complete`
            // report.
            let _ = connection.send_stream(stream).finish();
        }
    }

    fn state(&self) -> State {
        let mut state = State {
            in_flight: self.meter.in_flight(),
            smoothed_rtt: self.meter.smoothed().map(clock::duration),
            minimum_rtt: self.meter.minimum().map(clock::duration),
            sent: self.meter.sent(),
            congestion_events: self.meter.congestion_events(),
            persistent_congestions: self.meter.persistent_congestions(),
            read: self.meter.read.load(Relaxed),
            complete: self.complete,
            ..State::default()
        };
        let Some((_, connection)) = &self.connection else { return state };
        state.lost_packets = shim::lost_packets(connection, &self.meter);
        if let Some(controller) = shim::controller(connection) {
            let metrics = controller.metrics();
            state.window = controller.window();
            state.ssthresh = metrics.ssthresh;
            state.pacing_bps = shim::pacing_bps(&metrics).or_else(|| self.paced_by_window(state.window));
        }
        state
    }

    fn take_round_trip(&mut self) -> Option<Duration> {
        self.meter.take_sample().map(clock::duration)
    }

    fn take_secrets(&mut self) -> Option<String> {
        self.key_log.take()
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}

fn codepoint(ecn: Option<EcnCodepoint>) -> Codepoint {
    match ecn {
        None => Codepoint::NotEct,
        Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
        Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
        Some(EcnCodepoint::Ce) => Codepoint::Ce,
    }
}
