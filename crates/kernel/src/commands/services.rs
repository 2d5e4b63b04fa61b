use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::commands::Refused;

/// Services for handlers, by type.
///
/// Commands are registered before services exist: Discord gets them while the team starts, and `--help` opens no database. So a handler
/// holds a [`Late`] service, which is set later.
#[derive(Clone)]
pub struct Services {
    slots: Arc<Mutex<HashMap<TypeId, Arc<dyn Slot>>>>,
    missing: &'static str,
}

/// A service that may not be available yet.
pub struct Late<T> {
    slot: Arc<RwLock<Option<Arc<T>>>>,
    missing: &'static str,
}

trait Slot: Any + Send + Sync {
    fn clear(&self);
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Send + Sync + 'static> Slot for RwLock<Option<Arc<T>>> {
    fn clear(&self) {
        *self.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Services {
    /// `missing` is the error for callers while the service is not available.
    pub fn new(missing: &'static str) -> Self {
        Self { slots: Arc::default(), missing }
    }

    /// A handle for a service that is set now or later.
    pub fn late<T: Send + Sync + 'static>(&self) -> Late<T> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(RwLock::new(None::<Arc<T>>)));
        let slot = Arc::clone(slot).into_any().downcast().unwrap_or_else(|_| panic!("the slot of {} is another's", type_name::<T>()));
        Late { slot, missing: self.missing }
    }

    pub fn provide<T: Send + Sync + 'static>(&self, service: Arc<T>) {
        *self.late::<T>().slot.write().unwrap_or_else(PoisonError::into_inner) = Some(service);
    }

    /// Drops all services. This breaks the reference cycle from the platform over registry and handlers back to the platform.
    pub fn clear(&self) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(|slot| slot.clear());
    }
}

impl<T> Late<T> {
    /// # Errors
    /// The service is not available.
    pub fn get(&self) -> Result<Arc<T>, Refused> {
        let slot = self.slot.read().unwrap_or_else(PoisonError::into_inner);
        slot.clone().ok_or_else(|| Refused::new(self.missing))
    }
}

impl<T> Clone for Late<T> {
    fn clone(&self) -> Self {
        Self { slot: Arc::clone(&self.slot), missing: self.missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_there_from_when_it_is_provided_until_all_are_dropped() {
        let services = Services::new("We are just starting.");
        let late = services.late::<String>();
        assert_eq!(late.get().unwrap_err().to_string(), "We are just starting.");
        services.provide(Arc::new("here".to_owned()));
        services.provide(Arc::new(7));
        assert_eq!(late.get().unwrap().as_str(), "here");
        services.clear();
        assert!(late.get().is_err());
    }
}
