//! User-defined models, from outside the connection.

use super::Controller;
use crate::composition::{Composition as _, Roles};
use crate::model::Model;
use crate::part::ModelPart;
use crate::state::WindowState;
use crate::units::Time;

impl Controller {
    /// The user-defined model that controls the connection; `None` without one of this type.
    pub fn custom<M: ModelPart + 'static>(&self) -> Option<&M> {
        let Roles::Model(Model::Custom(model)) = self.algorithm.roles() else { return None };
        let model: &dyn core::any::Any = model.as_ref();
        model.downcast_ref()
    }

    /// Lets code outside the connection change a user-defined model and the window. `None` if the
    /// model has another type, or has failed.
    pub fn steer<M: ModelPart + 'static, R>(
        &mut self,
        now: Time,
        change: impl FnOnce(&mut M, &mut WindowState) -> R,
    ) -> Option<R> {
        let mut result = None;
        self.algorithm.tell(now, &mut self.state, |roles, state| {
            let Roles::Model(Model::Custom(model)) = roles else { return };
            let model: &mut dyn core::any::Any = model.as_mut();
            result = model.downcast_mut().map(|model| change(model, state));
        });
        result
    }
}
