//! Presents an SD-JWT: only the chosen disclosures (RFC 9901 §7.2).

use crate::path::{ClaimPath, Segment};
use crate::{
    DigestAlgorithm, SdJwt,
    process::{DisclosurePlace, ProcessError},
};

/// An SD-JWT with the chosen disclosures, not yet bound to a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Presentation {
    text: String,
    algorithm: DigestAlgorithm,
}

impl SdJwt {
    /// The SD-JWT with the disclosures that the claims at `paths` need: those on the way to each claim, its own, and
    /// all within it. Without paths nothing is disclosed.
    pub fn present(&self, paths: &[ClaimPath]) -> Result<Presentation, ProcessError> {
        let processed = self.process()?;
        let mut chosen: Vec<bool> = processed
            .places
            .iter()
            .map(|place| paths.iter().any(|path| is_needed(place, path)))
            .collect();
        // Each child needs its parent. The paths already ensure that, but RFC 9901 §7.2 (2) must hold in any case.
        for index in 0..chosen.len() {
            let mut child = index;
            while chosen.get(child) == Some(&true) {
                let Some(parent) = processed.places.get(child).and_then(|place| place.parent)
                else {
                    break;
                };
                if let Some(flag) = chosen.get_mut(parent) {
                    *flag = true;
                }
                child = parent;
            }
        }
        let mut text = format!("{}~", self.encoded_jwt());
        let disclosures = self.disclosures().iter().zip(&chosen);
        for (disclosure, _) in disclosures.filter(|(_, chosen)| **chosen) {
            text.push_str(disclosure.encoded());
            text.push('~');
        }
        Ok(Presentation {
            text,
            algorithm: self.digest_algorithm(),
        })
    }
}

impl Presentation {
    /// The presentation, if no key binding is required.
    pub fn unbound(self) -> String {
        self.text
    }

    /// The `sd_hash` of a Key Binding JWT for this presentation (RFC 9901 §4.3.1).
    pub fn sd_hash(&self) -> String {
        self.algorithm.digest(self.text.as_bytes())
    }
}

/// Whether the disclosure at `place` lies on the way to, at, or within the claims at `path`.
fn is_needed(place: &DisclosurePlace, path: &ClaimPath) -> bool {
    let steps = place.path.segments().iter().zip(path.segments());
    steps.into_iter().all(|(at, wanted)| {
        at == wanted || (matches!(at, Segment::Index(_)) && *wanted == Segment::All)
    })
}
