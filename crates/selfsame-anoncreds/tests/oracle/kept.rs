//! A cache of parsed values across calls, keyed by the text they were made from.

use selfsame_anoncreds::Error;

/// The most recent values made from texts.
pub struct Kept<T>(Vec<(String, String, T)>);

/// The most values that one test or bench uses at a time.
const MOST: usize = 8;

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Kept<T> {
    /// The value made from this text.
    pub fn get(
        &mut self,
        text: &str,
        make: impl FnOnce(&str) -> Result<T, Error>,
    ) -> Result<T, String> {
        self.get_both((text, ""), |text, _| make(text))
    }

    /// The value made from these two texts.
    pub fn get_both(
        &mut self,
        (one, two): (&str, &str),
        make: impl FnOnce(&str, &str) -> Result<T, Error>,
    ) -> Result<T, String> {
        if let Some((_, _, thing)) = self.0.iter().find(|known| known.0 == one && known.1 == two) {
            return Ok(thing.clone());
        }
        let thing = make(one, two).map_err(|error| error.to_string())?;
        self.keep((one, two), thing.clone());
        Ok(thing)
    }

    fn keep(&mut self, (one, two): (&str, &str), thing: T) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push((one.to_owned(), two.to_owned(), thing));
    }

    /// All cached values.
    #[allow(dead_code, reason = "the bench asks, the tests do not")]
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, _, thing)| thing)
    }
}
