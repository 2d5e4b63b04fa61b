//! How the open database refers to what holds it: the relay and the worker of this process.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Refers to a `T` once it exists, and does not keep it alive.
///
/// It hides the type behind a function, so that the type of the holder does not contain itself.
pub(crate) struct WeakLink<T>(Mutex<Option<Box<Find<T>>>>);

type Find<T> = dyn Fn() -> Option<T> + Send;

impl<T> WeakLink<T> {
    /// Links to the `T` that `make` returns for the shared `inner`.
    pub(crate) fn set<Inner: Send + Sync + 'static>(&self, inner: &Arc<Inner>, make: fn(Arc<Inner>) -> T)
    where
        T: 'static,
    {
        let inner: Weak<Inner> = Arc::downgrade(inner);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(move || inner.upgrade().map(make)));
    }

    pub(crate) fn upgrade(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?()
    }
}

impl<T> Default for WeakLink<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for WeakLink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakLink")
    }
}
