use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

/// Runs a future and converts a panic into an error.
pub async fn catch_panic<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match AssertUnwindSafe(future).catch_unwind().await {
        Ok(result) => result,
        Err(panic) => Err(anyhow::anyhow!("it panicked: {}", message_of(&*panic))),
    }
}

pub(crate) fn message_of(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_error_with_its_words() {
        let failed = catch_panic(async { if true { panic!("out of {}", "order") } else { Ok(()) } }).await;
        assert_eq!(failed.unwrap_err().to_string(), "it panicked: out of order");
        assert_eq!(catch_panic(async { Ok(3) }).await.unwrap(), 3);
    }
}
