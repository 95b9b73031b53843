//! Futures in boxes.

use std::pin::Pin;

/// A future that is compiled in one crate alone. Each crate that awaits an async function compiles it once more, with all
/// that it awaits; a function that returns a box is compiled where it stands.
pub type BoxedWork<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
