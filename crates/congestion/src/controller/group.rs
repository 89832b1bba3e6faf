//! Parallel flows that share their knowledge.

use super::Controller;
use crate::composition::{Composition as _, Roles};
use crate::window::Group;

impl Controller {
    /// For a member of a group of parallel flows, before each event: takes the group's knowledge.
    pub fn take_from(&mut self, group: &Group) {
        if let Some(Roles::Parts(_, window, _)) = self.algorithm.roles_mut() {
            window.take_from(group, &mut self.state);
        }
    }

    /// For a member of a group, after each event: shares its knowledge.
    pub fn give_to(&mut self, group: &mut Group) {
        if let Some(Roles::Parts(_, window, _)) = self.algorithm.roles_mut() {
            window.give_to(group, &self.state);
        }
    }
}
