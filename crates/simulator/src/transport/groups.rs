//! Groups of parallel flows that share their knowledge of the path.

use super::Sender;
use selfclock_congestion::window::Group;

/// The groups of a simulation. A group's knowledge is one value: members take it before each event
/// and return it after.
#[derive(Clone, Debug)]
pub struct Groups {
    groups: Vec<Group>,
    /// The group of each flow. Empty in a run without groups.
    of_flow: Vec<Option<u32>>,
}

impl Groups {
    /// The groups among this number of flows, each given by its members' indices.
    pub fn new(flows: usize, members: &[Vec<usize>]) -> Self {
        let mut of_flow = if members.is_empty() { Vec::new() } else { vec![None; flows] };
        for (group, members) in members.iter().enumerate() {
            for &flow in members {
                of_flow[flow] = Some(group as u32);
            }
        }
        Self { groups: vec![Group::default(); members.len()], of_flow }
    }

    /// Whether this flow is a member of a group.
    pub fn has(&self, flow: u32) -> bool {
        self.of_flow.get(flow as usize).is_some_and(Option::is_some)
    }

    /// Applies an event to a flow's sender, with its group's knowledge if it has one.
    #[inline(always)]
    pub fn during(&mut self, flow: u32, sender: &mut Sender, happen: impl FnOnce(&mut Sender)) {
        if self.of_flow.is_empty() {
            return happen(sender);
        }
        let group = self.of_flow[flow as usize].map(|group| &mut self.groups[group as usize]);
        match group {
            None => happen(sender),
            Some(group) => {
                sender.take_from(group);
                happen(sender);
                sender.give_to(group);
            }
        }
    }
}
