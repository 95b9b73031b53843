//! The progress of long work, for a person at a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The bar of work whose end is known.
const BAR: &str = "{msg:32} {bar:30} {pos}/{len} {elapsed}";

/// How often the time on a bar is drawn again.
const TICK: Duration = Duration::from_millis(200);

/// A line that says what is being done and how far it is. It is gone when the work ends.
pub struct Progress(ProgressBar);

impl Progress {
    /// Begins a line, unless it is to be hidden.
    #[must_use]
    pub fn new(hidden: bool) -> Self {
        Self(match hidden {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        })
    }

    /// Begins a bar for work of this number of steps, unless it is to be hidden.
    #[must_use]
    pub fn of(hidden: bool, steps: u64) -> Self {
        if hidden {
            return Self::new(true);
        }
        let mut bar = ProgressBar::new(steps);
        // Without this look, the bar has the usual one.
        if let Ok(style) = ProgressStyle::with_template(BAR) {
            bar = bar.with_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// Says what the bar is about.
    #[must_use]
    pub fn named(self, what: &str) -> Self {
        self.0.set_message(what.to_owned());
        self
    }

    /// Says how many steps are done.
    pub fn seen(&self, steps: u64) {
        self.0.set_position(steps);
    }

    /// Moves the bar forward by this number of steps.
    pub fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// Says how many things of what were seen.
    pub fn at(&self, what: &str, seen: u64) {
        match self.0.length() {
            Some(_) => {
                self.0.set_message(what.to_owned());
                self.0.set_position(seen);
            }
            None => {
                self.0.set_message(format!("{what} {seen}"));
                self.0.tick();
            }
        }
    }

    /// Writes a line of standard error above the progress.
    pub fn complain(&self, line: &str) {
        self.0.suspend(|| crate::output::complain(line));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
