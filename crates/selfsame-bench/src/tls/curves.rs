//! Charts like the paper's figures 4 and 5: the distributions of measured times and of the model's estimates.

use super::cell::{Cell, Lookup, Way};
use super::figures::AlgorithmFigures;
use super::world::KeyKind;
use crate::chart::{Chart, Line};
use crate::statistics::Sample;

impl AlgorithmFigures {
    /// Charts for credentials and DIDs, from a cache and from the registry. Each shows the measured times, the times
    /// with X.509, and the latter shifted to the model's estimate.
    pub fn charts(&self, kind: KeyKind) -> Vec<Chart> {
        let cached = self.charts_of(kind, Lookup::Cached);
        cached
            .into_iter()
            .chain(self.charts_of(kind, Lookup::Cold))
            .collect()
    }

    fn charts_of(&self, kind: KeyKind, lookup: Lookup) -> Vec<Chart> {
        let estimate = self.estimate(lookup);
        let unilateral = self.times(Lookup::Cached, Cell::alone(Way::X509));
        let mutual = self.times(Lookup::Cached, Cell::both(Way::X509, Way::X509));
        let how = match lookup {
            Lookup::Cold => "resolved",
            Lookup::Cached | Lookup::Stapled | Lookup::StapledUnknown => "cached",
        };
        let chart = |title: &str, way: Way, cell: Cell, (original, estimate): (&Sample, f64)| {
            let shift = estimate - original.median();
            Chart {
                title: format!("{title} with {} ({}, {how}), ms", way.name(), kind.name()),
                x: "% of handshakes".to_owned(),
                lines: vec![
                    line("measured", &self.times(lookup, cell), 0.0),
                    line("model", original, shift),
                    line("x509", original, 0.0),
                ],
            }
        };
        [
            (Way::Vc, estimate.credential, estimate.mutual_credential),
            (Way::Did, estimate.did, estimate.mutual_did),
        ]
        .into_iter()
        .flat_map(|(way, one, two)| {
            [
                chart("unilateral", way, Cell::alone(way), (&unilateral, one)),
                chart("mutual", way, Cell::both(way, way), (&mutual, two)),
            ]
        })
        .collect()
    }
}

fn line(name: &str, sample: &Sample, shift: f64) -> Line {
    let point = |hundredth: u32| {
        let share = f64::from(hundredth);
        (share, sample.quantile(share / 100.0) + shift)
    };
    Line {
        name: name.to_owned(),
        points: (1..100).map(point).collect(),
    }
}
