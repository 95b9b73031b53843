//! The path to a credential: what a holder has, what is missing, and in which order to get it.

use std::collections::{BTreeMap, BTreeSet};

/// Which credentials need which others, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    types: BTreeMap<String, Vec<BTreeSet<String>>>,
}

/// A credential on the path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WayStep {
    /// Its type.
    pub kind: String,
    /// How near it is.
    pub state: StepState,
    /// The types of the chosen set that it needs, the goal's or another one's.
    pub needs: Vec<String>,
}

/// How near a credential is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StepState {
    /// The holder has it.
    Held,
    /// Whatever it needs is held: it is next.
    Next,
    /// Something that it needs is missing.
    Later,
    /// It can never be had: what it needs leads back to it.
    Never,
}

impl Graph {
    /// A graph that knows nothing: each type can be had at once.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a type need one of these sets of types. Without a set it needs nothing.
    pub fn insert(&mut self, kind: &str, sets: impl IntoIterator<Item = BTreeSet<String>>) {
        let sets = sets.into_iter().collect();
        self.types.insert(kind.to_owned(), sets);
    }

    /// Whether a type is known.
    #[must_use]
    pub fn knows(&self, kind: &str) -> bool {
        self.types.contains_key(kind)
    }

    /// Types that need each other so that none of them can ever be had first: the first one is `from`, each needs the
    /// next one, and the last one stands before already. None if `from` can be had.
    #[must_use]
    pub fn circle(&self, from: &str) -> Option<Vec<String>> {
        let had = self.had(&BTreeSet::new());
        let is_lost = |kind: &str| !had.contains_key(kind) && self.knows(kind);
        if !is_lost(from) {
            return None;
        }
        let mut circle = vec![from.to_owned()];
        let mut at = from;
        // Each set of a lost type has a lost type in it.
        while let Some(next) = self.sets(at).first().and_then(|set| {
            let mut lost = set.iter().filter(|kind| is_lost(kind));
            lost.next()
        }) {
            let is_closed = circle.contains(next);
            circle.push(next.clone());
            if is_closed {
                break;
            }
            at = next;
        }
        Some(circle)
    }

    /// The steps to a type, each after what it needs, the goal last. Of several sets the one is chosen that has the
    /// fewest missing credentials, then the earlier one.
    #[must_use]
    pub fn path(&self, goal: &str, held: &BTreeSet<String>) -> Vec<WayStep> {
        let walk = PathWalk {
            graph: self,
            held,
            had: self.had(held),
        };
        let mut steps = Vec::new();
        walk.walk(goal, &mut steps);
        steps
    }

    fn sets(&self, kind: &str) -> &[BTreeSet<String>] {
        self.types.get(kind).map_or(&[], Vec::as_slice)
    }

    /// The types that can be had, with the number of credentials to get on the way: the least fixed point.
    fn had(&self, held: &BTreeSet<String>) -> BTreeMap<String, usize> {
        let mut had: BTreeMap<String, usize> = held.iter().map(|kind| (kind.clone(), 0)).collect();
        let named = self.types.values().flatten().flatten();
        for kind in named.filter(|kind| !self.knows(kind)) {
            had.entry(kind.clone()).or_insert(1);
        }
        for _ in 0..=self.types.len() {
            let mut is_done = true;
            for (kind, sets) in &self.types {
                let cost = match sets.is_empty() {
                    true => Some(1),
                    false => sets.iter().filter_map(|set| cost(set, &had)).min(),
                };
                let known = had.get(kind).copied();
                if let Some(cost) = cost
                    && known.is_none_or(|known| cost < known)
                {
                    had.insert(kind.clone(), cost);
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
        had
    }
}

/// What a type costs that needs this set; none if some of the set can't be had.
fn cost(set: &BTreeSet<String>, had: &BTreeMap<String, usize>) -> Option<usize> {
    set.iter().try_fold(1_usize, |sum, kind| {
        Some(sum.saturating_add(*had.get(kind)?))
    })
}

struct PathWalk<'a> {
    graph: &'a Graph,
    held: &'a BTreeSet<String>,
    had: BTreeMap<String, usize>,
}

impl<'a> PathWalk<'a> {
    fn walk(&self, goal: &'a str, steps: &mut Vec<WayStep>) {
        let mut begun = BTreeSet::new();
        // A stack of its own: how deep it goes is for others to say.
        let mut open = vec![(goal, false)];
        while let Some((kind, is_done)) = open.pop() {
            let set = self.chosen(kind);
            if is_done {
                steps.push(WayStep {
                    kind: kind.to_owned(),
                    state: self.state(kind, set),
                    needs: set.into_iter().flatten().cloned().collect(),
                });
                continue;
            }
            if !begun.insert(kind) {
                continue;
            }
            open.push((kind, true));
            if !self.held.contains(kind) {
                let needed = set.into_iter().flatten().rev();
                open.extend(needed.map(|kind| (kind.as_str(), false)));
            }
        }
    }

    fn chosen(&self, kind: &str) -> Option<&'a BTreeSet<String>> {
        let sets = self.graph.sets(kind).iter();
        let dear = |set: &&BTreeSet<String>| cost(set, &self.had).unwrap_or(usize::MAX);
        sets.min_by_key(dear)
    }

    fn state(&self, kind: &str, set: Option<&BTreeSet<String>>) -> StepState {
        if self.held.contains(kind) {
            return StepState::Held;
        }
        if self.graph.knows(kind) && !self.had.contains_key(kind) {
            return StepState::Never;
        }
        let is_ready = set.into_iter().flatten().all(|one| self.held.contains(one));
        match is_ready {
            true => StepState::Next,
            false => StepState::Later,
        }
    }
}
