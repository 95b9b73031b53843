//! Identifiers for blank nodes in the order in which they are given (RDF Dataset Canonicalization §4.5).

use std::fmt::Write as _;

use crate::rdf::Blank;

#[derive(Clone)]
pub(super) struct BlankNames {
    prefix: &'static str,
    /// For each blank node the number that it was given.
    numbers: Vec<Option<u32>>,
    order: Vec<Blank>,
}

impl BlankNames {
    pub fn new(prefix: &'static str, blanks: u32) -> Self {
        Self {
            prefix,
            numbers: vec![None; blanks as usize],
            order: Vec::new(),
        }
    }

    /// Gives the blank node a number, unless it has one.
    pub fn issue(&mut self, blank: Blank) {
        let next = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        if let Some(number @ None) = self.numbers.get_mut(blank as usize) {
            *number = Some(next);
            self.order.push(blank);
        }
    }

    pub fn has(&self, blank: Blank) -> bool {
        self.number(blank).is_some()
    }

    /// Appends the identifier, if the node has one.
    pub fn write(&self, blank: Blank, text: &mut String) {
        if let Some(number) = self.number(blank) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}{number}", self.prefix);
        }
    }

    /// The blank nodes in the order of their numbers.
    pub fn order(&self) -> &[Blank] {
        &self.order
    }

    /// How much is copied with it.
    pub fn size(&self) -> usize {
        self.numbers.len().saturating_mul(8)
    }

    fn number(&self, blank: Blank) -> Option<u32> {
        self.numbers.get(blank as usize).copied().flatten()
    }
}
