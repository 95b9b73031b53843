//! Readings of presented texts, remembered while evidence is gathered, so that a step that runs again does not parse
//! them again.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of remembered texts; further ones are parsed each time.
const MAX: usize = 16;

/// A presented text, with everything that its reading depends on.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// The text.
    pub raw: &'a str,
    /// The name of its format.
    pub format: &'static str,
    /// Whether it is read as a presentation.
    pub is_presentation: bool,
}

/// The reading of a text, and the number of bytes that it took from a budget.
#[derive(Clone)]
pub(crate) struct Reading<T> {
    pub subject: T,
    pub bytes: usize,
}

/// The readings so far. Clones share them. The callers know the types of the readings; this module does not.
#[derive(Clone, Default)]
pub(super) struct Readings(Arc<Mutex<Vec<KnownReading>>>);

struct KnownReading {
    raw: String,
    format: &'static str,
    is_presentation: bool,
    subject: Box<dyn Any + Send + Sync>,
    bytes: usize,
}

impl KnownReading {
    fn is_of(&self, text: Text<'_>) -> bool {
        self.format == text.format
            && self.is_presentation == text.is_presentation
            && self.raw == text.raw
    }
}

impl fmt::Debug for Readings {
    /// Claims must not appear in debug output.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Readings")
    }
}

impl Readings {
    pub fn find<T: Any + Clone>(&self, text: Text<'_>) -> Option<Reading<T>> {
        let readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = readings.iter().find(|known| known.is_of(text))?;
        Some(Reading {
            subject: known.subject.downcast_ref::<T>()?.clone(),
            bytes: known.bytes,
        })
    }

    pub fn remember<T: Any + Send + Sync>(&self, text: Text<'_>, reading: Reading<T>) {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if readings.len() < MAX {
            readings.push(KnownReading {
                raw: text.raw.to_owned(),
                format: text.format,
                is_presentation: text.is_presentation,
                subject: Box::new(reading.subject),
                bytes: reading.bytes,
            });
        }
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}
