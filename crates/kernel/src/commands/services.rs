use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::commands::Refused;

/// What handlers work with, by type.
///
/// Commands are registered before there is anything to run them on: Discord is told of them while the team is still starting, and the command
/// line shows its help without opening a database. So a handler holds a [`Late`] service, which is provided once it exists.
#[derive(Clone)]
pub struct Services {
    slots: Arc<Mutex<HashMap<TypeId, Arc<dyn Slot>>>>,
    missing: &'static str,
}

/// A service that may not be there (yet).
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
    /// `missing` is what a caller is told whose command needs a service that is not there.
    pub fn new(missing: &'static str) -> Self {
        Self { slots: Arc::default(), missing }
    }

    /// The service of a type, whenever it comes.
    pub fn late<T: Send + Sync + 'static>(&self) -> Late<T> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(RwLock::new(None::<Arc<T>>)));
        let slot = Arc::clone(slot).into_any().downcast().unwrap_or_else(|_| panic!("the slot of {} is another's", type_name::<T>()));
        Late { slot, missing: self.missing }
    }

    pub fn provide<T: Send + Sync + 'static>(&self, service: Arc<T>) {
        *self.late::<T>().slot.write().unwrap_or_else(PoisonError::into_inner) = Some(service);
    }

    /// Drops all services. They may hold the platform, which holds the registry, whose handlers hold these slots.
    pub fn clear(&self) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(|slot| slot.clear());
    }
}

impl<T> Late<T> {
    /// # Errors
    /// It is not there.
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
