//! Notes on valid scenarios that are probably mistaken, one sentence each.

use selfclock_congestion::entry::{Marks, Need, RouterPartner};
use selfclock_congestion::units::{Bytes, Rate};

use crate::named::Named as _;
use crate::plan::{
    Ecn, FlowPlan, LinkPlan, LossPlan, Plan, Protocol, QueueLimit, ReceiveWindow, RouterPlan, Source,
    assemble::USUAL_PACKET,
};
use crate::queue::ActsAbove;

/// Maximum number of notes of one kind; thousands of flows could share one.
const MOST_OF_A_KIND: usize = 3;

/// Disciplines with one queue whose marks stand for drops.
const CLASSIC: [&str; 3] = ["red", "pie", "codel"];

/// Notes on settings whose results may surprise: one sentence each.
pub fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Notes::default();
    let passes_equals = plan.flows.iter().any(|flow| flow.passes_equals);
    let idle = if passes_equals { with_idle_links(plan) } else { Vec::new() };
    for flow in plan.flows.iter() {
        if flow.passes_equals && flow.forward.iter().skip(1).any(|&link| idle[plan.links[link].from]) {
            notes.add(
                "flow",
                &flow.name,
                "takes the first of several equal paths, and others are idle: routing = \"ecmp\" in the network \
                 spreads flows over them, and a flow's route chooses one",
            );
        }
        flow_notes(plan, flow, &mut notes);
    }
    for link in plan.links.iter() {
        link_notes(plan, link, &mut notes);
    }
    router_notes(plan, &mut notes);
    notes.listed()
}

/// Notes, with the flows or links of each kind grouped.
#[derive(Default)]
struct Notes(Vec<(&'static str, String, Vec<String>)>);

impl Notes {
    /// Adds the flow or link `of` to those for which `what` is true.
    fn add(&mut self, kind: &'static str, of: &str, what: impl Into<String>) {
        let what = what.into();
        match self.0.iter_mut().find(|(known, text, _)| (*known, text) == (kind, &what)) {
            Some((.., names)) => names.push(of.to_owned()),
            None => self.0.push((kind, what, vec![of.to_owned()])),
        }
    }

    fn listed(self) -> Vec<String> {
        let sentence = |(kind, what, names): (&str, String, Vec<String>)| {
            let shown: Vec<String> =
                names.iter().take(MOST_OF_A_KIND).map(|name| format!("{name:?}")).collect();
            let more = names.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let plural = if names.len() > 1 { "s" } else { "" };
            format!("{kind}{plural} {}{more}: {what}", shown.join(", "))
        };
        self.0.into_iter().map(sentence).collect()
    }
}

/// Wire size of a full packet.
fn packet(flow: &FlowPlan) -> Option<Bytes> {
    if let Protocol::Udp(udp) = &flow.protocol {
        return udp.packets.iter().map(|&(size, _)| size).max();
    }
    flow.protocol.tcp().map(|tcp| Bytes(tcp.transport.mss.get() + tcp.transport.header.get()))
}

/// The largest data packet that crosses a link.
fn largest_packet(plan: &Plan, link: usize) -> Option<Bytes> {
    plan.flows.iter().filter(|flow| flow.forward.contains(&link)).filter_map(packet).max()
}

fn flow_notes(plan: &Plan, flow: &FlowPlan, notes: &mut Notes) {
    let mut add = |what: String| notes.add("flow", &flow.name, what);
    if flow.start.picoseconds() >= plan.duration.picoseconds() {
        add("starts after the end of the run: it sends nothing".to_owned());
    }
    let Some(tcp) = flow.protocol.tcp() else { return };
    if tcp.control.marks() == Marks::InProportion {
        if tcp.transport.ecn != Ecn::Accurate {
            add("Prague without accurate ECN is paced Reno: write ecn = \"accurate\" in its transport"
                .to_owned());
        } else if !flow.forward.iter().any(|&link| plan.links[link].discipline.marks()) {
            add("no queue on its path marks: without marks Prague is a paced Reno".to_owned());
        } else if let Some(name) = classic_queue_shared(plan, flow) {
            add(format!(
                "{name} marks Prague no more than it marks or drops the classic flows beside it, of which Prague takes \
                 most of the rate (RFC 9331, section 4.3, asks for a fall-back, which is not here): share a dualpi2"
            ));
        }
    }
    if let Some((window, product)) = window_below_path(plan, flow) {
        add(format!(
            "its receiver's window, tuned up to {window:.0} MiB as on Linux, is below what its path can hold, {product:.0} \
             MiB, and may limit it: write receive_window = \"unlimited\" in its transport to have none"
        ));
    }
    if tcp.transport.delayed_ack.every > 1 {
        for (name, _) in tcp.control.needs().filter(|&(_, need)| need == Need::EveryAck) {
            add(format!(
                "{name} needs an ACK of every segment and may measure nothing: write delayed_ack = \"off\" in its transport"
            ));
        }
    }
    for RouterPartner { mechanism, without, .. } in tcp.control.routers() {
        let on_its_way = |router: &&RouterPlan| router.links.iter().any(|link| flow.forward.contains(link));
        if !plan.routers.iter().filter(on_its_way).any(|router| router.mechanism.entry().name == mechanism) {
            add(format!(
                "no router on its path has the mechanism {mechanism}: {without}; add [[router]] mechanism = \"{mechanism}\""
            ));
        }
    }
}

/// Routers from which an idle link leads to another router.
fn with_idle_links(plan: &Plan) -> Vec<bool> {
    let mut used = vec![false; plan.links.len()];
    for flow in plan.flows.iter() {
        flow.forward.iter().chain(&flow.reverse).for_each(|&link| used[link] = true);
    }
    let mut leaving = vec![0_usize; plan.nodes.len()];
    plan.links.iter().for_each(|link| leaving[link.from] += 1);
    let mut found = vec![false; plan.nodes.len()];
    for (link, used) in plan.links.iter().zip(used) {
        found[link.from] |= !used && leaving[link.to] > 1;
    }
    found
}

/// The largest autotuned window of a bulk flow, and the volume that it needs if that is more, both
/// MiB: the BDP, and twice that where packets are lost on the way, because what follows a hole
/// waits at the receiver until it is filled.
fn window_below_path(plan: &Plan, flow: &FlowPlan) -> Option<(f64, f64)> {
    let tcp = flow.protocol.tcp()?;
    if tcp.transport.receive_window != ReceiveWindow::Auto || tcp.source != Source::Bulk {
        return None;
    }
    let links = |way: &[usize]| -> Vec<&LinkPlan> { way.iter().map(|&link| &plan.links[link]).collect() };
    let (forward, reverse) = (links(&flow.forward), links(&flow.reverse));
    let rate = forward.iter().map(|link| link.rate).min()?.bits_per_second() as f64;
    let rtt: f64 = forward.iter().chain(&reverse).map(|link| link.delay.seconds()).sum();
    let loses = forward.iter().any(|link| link.loss != LossPlan::None);
    let product = rate / 8.0 * rtt * if loses { 2.0 } else { 1.0 };
    let window = tcp.transport.advertised_window().get() as f64;
    let mebibyte = f64::from(1 << 20);
    (product > window).then_some((window / mebibyte, product / mebibyte))
}

/// A queue on the path that marks as it would drop (RFC 3168), for all flows alike, if a flow that
/// takes a mark for a loss shares it.
fn classic_queue_shared(plan: &Plan, flow: &FlowPlan) -> Option<&'static str> {
    let shared = |link: usize| {
        plan.flows.iter().any(|other| {
            let is_classic = |marks| marks != Marks::InProportion;
            other.forward.contains(&link)
                && other.protocol.tcp().is_some_and(|tcp| is_classic(tcp.control.marks()))
        })
    };
    flow.forward.iter().find_map(|&link| {
        let discipline = &plan.links[link].discipline;
        let name = discipline.entry().name;
        (CLASSIC.contains(&name) && discipline.marks() && shared(link)).then_some(name)
    })
}

fn link_notes(plan: &Plan, link: &LinkPlan, notes: &mut Notes) {
    let certain = match link.loss {
        LossPlan::None => false,
        LossPlan::Bernoulli(probability) => probability >= 1.0,
        LossPlan::GilbertElliott { loss_good, loss_bad, .. }
        | LossPlan::Bursts { loss_good, loss_bad, .. } => loss_good >= 1.0 && loss_bad >= 1.0,
    };
    if certain {
        notes.add("link", &link.name, "loses every packet");
    }
    let index = plan.links.iter().position(|other| std::ptr::eq(other, link)).unwrap_or(usize::MAX);
    if let Some(note) = inert_discipline(plan, link, index) {
        notes.add("link", &link.name, note);
    }
    if let (Some(burst), Some(packet)) = (link.burst, largest_packet(plan, index))
        && burst < packet
    {
        notes.add(
            "link",
            &link.name,
            "its burst is smaller than a packet, each of which waits for its tokens",
        );
    }
    let QueueLimit::Bytes(limit) = link.queue else { return };
    if largest_packet(plan, index).is_some_and(|packet| limit < packet) {
        notes.add(
            "link",
            &link.name,
            if link.trace.is_some() {
                "its queue is smaller than a packet, and each waits for an opportunity: it drops all of them"
            } else {
                "its queue is smaller than a packet: only an idle transmitter accepts one"
            },
        );
    }
}

/// A queue that is full before its discipline acts. Counted with the largest packet and, if the
/// rate changes, the lowest rate: then the queue holds the longest delay.
fn inert_discipline(plan: &Plan, link: &LinkPlan, index: usize) -> Option<String> {
    let name = link.discipline.entry().name;
    let packet = largest_packet(plan, index).unwrap_or(USUAL_PACKET).get().max(1);
    let (packets, bytes) = match link.queue {
        QueueLimit::Unlimited => return None,
        QueueLimit::Packets(packets) => (packets, packets.saturating_mul(packet)),
        QueueLimit::Bytes(bytes) => (bytes.get() / packet, bytes.get()),
    };
    let rate = link.changes.iter().map(|change| change.rate).fold(link.rate, Rate::min);
    let holds = rate.transmission_time(Bytes(bytes));
    match link.discipline.acts_above()? {
        ActsAbove::Delay(target) if holds < target => {
            let [holds, target] = [holds, target].map(|time| format!("{:.3} ms", 1e3 * time.seconds()));
            let [holds, target] = [holds, target].map(|text| text.replace(".000", ""));
            Some(format!(
                "its queue holds {holds} at most and {name} aims at {target}: it is full before {name} acts"
            ))
        }
        ActsAbove::Packets(least) if packets <= least => Some(format!(
            "its queue holds {packets} packets at most and {name} acts from {least} on: it is full before that"
        )),
        _ => None,
    }
}

fn router_notes(plan: &Plan, notes: &mut Notes) {
    for router in &plan.routers {
        for &link in &router.links {
            if let Some(note) = router.mechanism.note(largest_packet(plan, link)) {
                notes.add("link", &plan.links[link].name, note);
            }
        }
    }
}
