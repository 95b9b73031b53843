//! The path to a credential across issuers: what a person has, what is missing, and where and in which order to get it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use selfsame_crypto::json::{self, Limits};
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, Result};
use selfsame_prerequisites::check::is_address;
use selfsame_prerequisites::document::PathDocument;
use selfsame_prerequisites::path::{Graph, StepState, WayStep};
use url::Url;

use crate::Wallet;
use crate::cards::short;
use crate::view::Person;
use crate::view::path::{PathStep, PathStepState, WalletPath};

/// Maximum number of documents that are fetched for one path.
const DOCUMENTS_MAX: usize = 16;
/// How long all of them may take together.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of a person's cards that are looked at.
const CARDS_MAX: usize = 2_000;
/// Maximum number of steps that are shown.
const STEPS_MAX: usize = 40;
/// Limits of a document.
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 8,
    max_members: 2_000,
};

/// What issuers say of the credentials on a path.
#[derive(Default)]
struct KnownWays {
    graph: Graph,
    titles: BTreeMap<String, String>,
    issuers: BTreeMap<String, String>,
    places: BTreeMap<String, String>,
}

impl Wallet {
    /// The path to the credential that is got at this address.
    ///
    /// # Errors
    /// `BadRequest` for an address that people can't be sent to; `Upstream` if it says nothing of a credential.
    pub async fn path(&self, person: &Person, to: &str) -> Result<WalletPath> {
        if !is_address(to) {
            return Err(Error::bad_request("path-address"));
        }
        let held = self.held_types(person).await?;
        let mut known = KnownWays::default();
        let work = self.learn(to, &held, &mut known);
        let goal = match tokio::time::timeout(PATIENCE, work).await {
            Ok(goal) => goal?,
            // What is known by then is shown.
            Err(_) => known.goal(to).ok_or_else(silent)?,
        };
        let steps = known.graph.path(&goal, &held);
        let shown = steps.iter().take(STEPS_MAX).map(|step| known.step(step));
        Ok(WalletPath {
            to: to.to_owned(),
            title: known.title(&goal),
            steps: shown.collect(),
        })
    }

    /// The types of the cards that a person can show now.
    async fn held_types(&self, person: &Person) -> Result<BTreeSet<String>> {
        let mut held = BTreeSet::new();
        let mut paging = Paging::longest();
        let mut seen = 0_usize;
        loop {
            let listed = self.cards(person, &paging).await?;
            seen = seen.saturating_add(listed.items.len());
            let valid = listed.items.into_iter();
            let valid =
                valid.filter(|card| card.status.as_deref().is_none_or(|one| one == "valid"));
            held.extend(valid.flat_map(|card| card.types));
            match listed.next {
                Some(next) if seen < CARDS_MAX => paging.after = Some(next),
                _ => return Ok(held),
            }
        }
    }

    /// Fetches what the goal's issuer says, and what the issuers of missing credentials say. Returns the goal's type.
    async fn learn(
        &self,
        to: &str,
        held: &BTreeSet<String>,
        known: &mut KnownWays,
    ) -> Result<String> {
        let document = self.told_at(to).await.ok_or_else(silent)?;
        let goal = document.vct.clone();
        known.places.insert(goal.clone(), to.to_owned());
        let mut waiting = known.take(document, held);
        let mut asked = BTreeSet::from([to.to_owned()]);
        while let Some((kinds, place)) = waiting.pop_front() {
            if asked.len() >= DOCUMENTS_MAX || !asked.insert(place.clone()) {
                continue;
            }
            // An issuer speaks of its own credentials alone.
            let document = self.told_at(&place).await;
            if let Some(document) = document.filter(|one| kinds.contains(&one.vct)) {
                waiting.extend(known.take(document, held));
            }
        }
        Ok(goal)
    }

    async fn told_at(&self, address: &str) -> Option<PathDocument> {
        let url = Url::parse(address).ok()?;
        let accept = "application/json";
        let response = self.shared.fetched_document(&url, accept).await.ok()?;
        json::parse_as(&response.body, &LIMITS).ok()
    }
}

impl KnownWays {
    /// Takes what a document says. Returns the types and the places of the credentials to ask for further.
    fn take(
        &mut self,
        document: PathDocument,
        held: &BTreeSet<String>,
    ) -> VecDeque<(Vec<String>, String)> {
        let mut further = VecDeque::new();
        for need in &document.needs {
            let Some(kind) = kind_of(&need.vct_values, held) else {
                continue;
            };
            self.titles
                .entry(kind.clone())
                .or_insert(short(&need.title));
            let place = need.get_at.as_ref().filter(|place| is_address(place));
            if let Some(place) = place.filter(|_| !held.contains(&kind)) {
                self.places.entry(kind).or_insert(place.clone());
                further.push_back((need.vct_values.clone(), place.clone()));
            }
        }
        let sets = document.sets().into_iter().map(|set| {
            let kinds = set
                .iter()
                .filter_map(|need| kind_of(&need.vct_values, held));
            kinds.collect::<BTreeSet<String>>()
        });
        self.graph.insert(&document.vct, sets.collect::<Vec<_>>());
        self.issuers
            .insert(document.vct.clone(), short(&document.issuer_name));
        self.titles.insert(document.vct, short(&document.title));
        further
    }

    fn goal(&self, to: &str) -> Option<String> {
        let mut places = self.places.iter();
        places
            .find(|(_, place)| *place == to)
            .map(|(kind, _)| kind.clone())
    }

    fn title(&self, kind: &str) -> String {
        let title = self.titles.get(kind).filter(|title| !title.is_empty());
        title.cloned().unwrap_or_else(|| short(kind))
    }

    fn step(&self, step: &WayStep) -> PathStep {
        PathStep {
            title: self.title(&step.kind),
            issuer: self.issuers.get(&step.kind).cloned(),
            get_at: self.places.get(&step.kind).cloned(),
            state: match step.state {
                StepState::Held => PathStepState::Held,
                StepState::Next => PathStepState::Next,
                StepState::Later => PathStepState::Later,
                StepState::Never => PathStepState::Never,
            },
            needs: step.needs.iter().map(|kind| self.title(kind)).collect(),
        }
    }
}

/// The type by which a needed credential stands on the path: one that the person has, or else the first.
fn kind_of(vct_values: &[String], held: &BTreeSet<String>) -> Option<String> {
    let has = vct_values.iter().find(|vct| held.contains(*vct));
    has.or_else(|| vct_values.first()).cloned()
}

fn silent() -> Error {
    Error::new(selfsame_driver::ErrorKind::Upstream, "path-unknown")
}

#[cfg(test)]
mod tests {
    use selfsame_prerequisites::document::NeededType;

    use super::*;

    fn needed(name: &str, place: Option<&str>) -> NeededType {
        NeededType {
            name: name.to_owned(),
            title: format!("The {name}"),
            vct_values: vec![format!("urn:{name}")],
            get_at: place.map(str::to_owned),
        }
    }

    fn document(name: &str, needs: Vec<NeededType>) -> PathDocument {
        PathDocument {
            vct: format!("urn:{name}"),
            title: format!("The {name}"),
            issuer_name: "Office\u{202e}".to_owned(),
            options: Vec::new(),
            needs,
        }
    }

    #[test]
    fn issuers_of_what_is_held_are_not_asked_and_links_lead_to_safe_places_alone() {
        use PathStepState::{Held, Later, Next};
        let mut known = KnownWays::default();
        let held = BTreeSet::from(["urn:company".to_owned()]);
        let needs = vec![
            needed("company", Some("https://a.example/")),
            needed("letter", Some("https://b.example/")),
            needed("badge", Some("javascript:alert(1)")),
        ];
        let further = known.take(document("permit", needs), &held);
        let places: Vec<&str> = further.iter().map(|(_, place)| place.as_str()).collect();
        assert_eq!(places, ["https://b.example/"]);
        let steps = known.graph.path("urn:permit", &held);
        let shown: Vec<PathStep> = steps.iter().map(|step| known.step(step)).collect();
        let told: Vec<(&str, PathStepState, Option<&str>)> = shown
            .iter()
            .map(|step| (step.title.as_str(), step.state, step.get_at.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("The badge", Next, None),
                ("The company", Held, None),
                ("The letter", Next, Some("https://b.example/")),
                ("The permit", Later, None),
            ]
        );
        assert_eq!(
            shown[3].issuer.as_deref(),
            Some("Office"),
            "nothing turns text round"
        );
    }

    #[test]
    fn types_of_different_issuers_that_need_each_other_are_told_to_be_out_of_reach() {
        let mut known = KnownWays::default();
        let none = BTreeSet::new();
        let at = Some("https://a.example/");
        known.take(document("permit", vec![needed("letter", at)]), &none);
        known.take(document("letter", vec![needed("permit", at)]), &none);
        let steps = known.graph.path("urn:permit", &none);
        assert!(steps.iter().all(|step| step.state == StepState::Never));
    }
}
