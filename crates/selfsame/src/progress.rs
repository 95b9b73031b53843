//! The progress of long work, for a person at a terminal.

use indicatif::ProgressBar;

/// A line that says what is being done and how far it is. It is gone when the work ends.
pub struct Progress(ProgressBar);

impl Progress {
    /// Begins a line, unless it is to be hidden.
    pub fn new(hidden: bool) -> Self {
        Self(match hidden {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        })
    }

    /// Says how many things of what were seen.
    pub fn at(&self, what: &str, seen: u64) {
        self.0.set_message(format!("{what} {seen}"));
        self.0.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
