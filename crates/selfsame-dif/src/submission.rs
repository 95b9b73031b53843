//! Presentation submissions (DIF Presentation Exchange 2.0, "Presentation Submission"), as RFC 0510 attaches them.

use serde::{Deserialize, Serialize};

/// The most presentations in a submission.
pub const PRESENTED_MAX: usize = 8;

/// The attachment of a presentation.
#[derive(Deserialize, Serialize)]
pub struct SubmittedProof {
    /// `@context` of a verifiable presentation.
    #[serde(rename = "@context", default)]
    pub context: Vec<String>,
    /// `type` of a verifiable presentation.
    #[serde(rename = "type", default)]
    pub kind: Vec<String>,
    /// Which presentation meets which descriptor.
    pub presentation_submission: Submission,
    /// The presentations, each with its own proof of the holder.
    #[serde(rename = "verifiableCredential")]
    pub presented: Vec<String>,
}

/// Which presentation meets which descriptor.
#[derive(Deserialize, Serialize)]
pub struct Submission {
    /// Its identifier.
    pub id: String,
    /// The definition that it answers.
    pub definition_id: String,
    /// A place for each descriptor.
    pub descriptor_map: Vec<DescriptorPlace>,
}

/// Where the presentation for a descriptor is.
#[derive(Deserialize, Serialize)]
pub struct DescriptorPlace {
    /// The descriptor.
    pub id: String,
    /// The format of its credential.
    pub format: String,
    /// Where it is.
    pub path: String,
}

impl SubmittedProof {
    /// An answer to a definition, with these presentations in the order of its descriptors.
    pub fn of(id: String, definition_id: &str, answers: Vec<MadeAnswer>) -> Self {
        let place = |(index, answer): (usize, &MadeAnswer)| DescriptorPlace {
            id: answer.descriptor.clone(),
            format: answer.format.clone(),
            path: format!("$.verifiableCredential[{index}]"),
        };
        Self {
            context: vec![
                "https://www.w3.org/2018/credentials/v1".to_owned(),
                "https://identity.foundation/presentation-exchange/submission/v1".to_owned(),
            ],
            kind: vec![
                "VerifiablePresentation".to_owned(),
                "PresentationSubmission".to_owned(),
            ],
            presentation_submission: Submission {
                id,
                definition_id: definition_id.to_owned(),
                descriptor_map: answers.iter().enumerate().map(place).collect(),
            },
            presented: answers.into_iter().map(|one| one.presentation).collect(),
        }
    }

    /// The presentation for a descriptor, with its format.
    pub fn answer(&self, descriptor: &str) -> Option<FoundAnswer<'_>> {
        let place = self.presentation_submission.of(descriptor)?;
        let raw = self.presented.get(place.index()?)?;
        Some(FoundAnswer {
            format: &place.format,
            raw,
        })
    }
}

impl Submission {
    /// The index of the credential for a descriptor.
    pub fn place(&self, descriptor: &str) -> Option<usize> {
        self.of(descriptor)?.index()
    }

    fn of(&self, descriptor: &str) -> Option<&DescriptorPlace> {
        let mut places = self.descriptor_map.iter();
        places.find(|place| place.id == descriptor)
    }
}

impl DescriptorPlace {
    fn index(&self) -> Option<usize> {
        let path = self.path.strip_prefix("$.verifiableCredential")?;
        let path = path.strip_prefix('.').unwrap_or(path);
        let index = path.strip_prefix('[')?.strip_suffix(']')?;
        index.parse().ok()
    }
}

/// A presentation that was made for a descriptor.
pub struct MadeAnswer {
    /// The descriptor.
    pub descriptor: String,
    /// The format of the credential.
    pub format: String,
    /// The presentation.
    pub presentation: String,
}

/// A presentation for a descriptor.
pub struct FoundAnswer<'a> {
    /// The format that the submission names.
    pub format: &'a str,
    /// The presentation.
    pub raw: &'a str,
}
