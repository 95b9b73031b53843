//! The figures and charts of what was found, beside the paper's.

use std::collections::BTreeMap;

use super::model::{Estimate, Original, Processing};
use super::world::Kind;
use super::{Cell, Plan, Way};
use crate::chart::{Chart, Line};
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// What was found of one algorithm, times in milliseconds.
#[derive(Debug, Default)]
pub struct Found {
    /// One check of a signature.
    pub verification: Sample,
    /// What a client takes for a server's flight.
    pub processing: BTreeMap<Way, Sample>,
    /// Our handshakes.
    pub ours: BTreeMap<Cell, Sample>,
    /// rustls' handshakes.
    pub rustls: BTreeMap<Cell, Sample>,
    /// What our server sent in a handshake, in bytes.
    pub sent: BTreeMap<Cell, usize>,
    /// The memory that idle connections took.
    pub idle_mb: Option<f64>,
}

/// The paper's tables for one algorithm; of a triple the members are X.509, VC and DID.
struct Study {
    bytes: [f64; 3],
    verification: f64,
    processing: [f64; 3],
    unilateral: [f64; 3],
    mutual: [f64; 3],
    /// Table V: X.509 and VC, X.509 and DID, VC and X.509, DID and X.509.
    hybrid: [f64; 4],
}

const RSA: Study = Study {
    bytes: [2063.0, 1516.0, 623.0],
    verification: 1.0,
    processing: [8.0, 45.0, 47.0],
    unilateral: [78.0, 110.0, 109.0],
    mutual: [116.0, 190.0, 187.0],
    hybrid: [152.0, 150.0, 151.0, 149.0],
};
const ECDSA: Study = Study {
    bytes: [1082.0, 1094.0, 437.0],
    verification: 1.0,
    processing: [9.0, 48.0, 47.0],
    unilateral: [43.0, 78.0, 77.0],
    mutual: [50.0, 124.0, 122.0],
    hybrid: [87.0, 86.0, 83.0, 81.0],
};
const EDDSA: Study = Study {
    bytes: [950.0, 1072.0, 431.0],
    verification: 11.0,
    processing: [27.0, 57.0, 45.0],
    unilateral: [71.0, 93.0, 83.0],
    mutual: [104.0, 161.0, 143.0],
    hybrid: [131.0, 122.0, 129.0, 118.0],
};

const HYBRIDS: [(Way, Way); 4] = [
    (Way::X509, Way::Vc),
    (Way::X509, Way::Did),
    (Way::Vc, Way::X509),
    (Way::Did, Way::X509),
];

impl Found {
    /// All figures of this algorithm.
    pub fn figures(&self, kind: Kind) -> Vec<Figure> {
        let study = match kind {
            Kind::Rsa => RSA,
            Kind::Ecdsa => ECDSA,
            Kind::Eddsa => EDDSA,
        };
        let name = kind.name();
        let verification = format!("verify_ms_{name}");
        let mut figures = vec![time(verification, &self.verification).study(study.verification)];
        for (place, way) in Way::ALL.into_iter().enumerate() {
            let of = |studied: [f64; 3]| studied.get(place).copied().unwrap_or_default();
            let figure = |what: &str| format!("{what}_{}_{name}", way.name());
            let sent = self.sent.get(&alone(way)).copied().unwrap_or_default();
            figures.push(Figure::new(figure("bytes"), sent as f64, "B").study(of(study.bytes)));
            let processing = self.processing.get(&way).cloned().unwrap_or_default();
            let processing = time(figure("process_ms"), &processing);
            figures.push(processing.study(of(study.processing)));
            let unilateral = time(figure("unilateral_ms"), &self.times(alone(way)));
            figures.push(unilateral.study(of(study.unilateral)));
            let mutual = time(figure("mutual_ms"), &self.times(both(way, way)));
            figures.push(mutual.study(of(study.mutual)));
        }
        for ((server, client), studied) in HYBRIDS.into_iter().zip(study.hybrid) {
            let figure = format!("hybrid_ms_{}_{}_{name}", server.name(), client.name());
            figures.push(time(figure, &self.times(both(server, client))).study(studied));
        }
        figures.extend(self.ratios(kind));
        figures.extend(self.theirs(name));
        figures.extend(self.errors(name));
        figures
    }

    /// Mutual handshakes beside our own with X.509.
    fn ratios(&self, kind: Kind) -> Vec<Figure> {
        let most = match kind {
            Kind::Rsa => 1.05,
            Kind::Ecdsa | Kind::Eddsa => 1.0,
        };
        let original = self.times(both(Way::X509, Way::X509)).median();
        [Way::Vc, Way::Did]
            .into_iter()
            .map(|way| {
                let ratio = self.times(both(way, way)).median() / original;
                let figure =
                    Figure::new(format!("{}_ratio_{}", way.name(), kind.name()), ratio, "");
                figure.bar(Bar::AtMost(most))
            })
            .collect()
    }

    fn theirs(&self, name: &str) -> [Figure; 2] {
        let of = |cell: Cell| self.rustls.get(&cell).cloned().unwrap_or_default();
        let mutual = of(both(Way::X509, Way::X509));
        [
            time(
                format!("rustls_unilateral_ms_{name}"),
                &of(alone(Way::X509)),
            ),
            time(format!("rustls_mutual_ms_{name}"), &mutual),
        ]
    }

    /// Our mutual handshakes with X.509 beside rustls'.
    pub fn beside_rustls(&self) -> f64 {
        let cell = both(Way::X509, Way::X509);
        let theirs = self.rustls.get(&cell).map_or(0.0, Sample::median);
        self.times(cell).median() / theirs
    }

    /// How far the model is from what was measured, in hundredths of that.
    fn errors(&self, name: &str) -> [Figure; 6] {
        let estimate = self.estimate();
        let figure = |what: &str, estimate: f64, cell: Cell| {
            let measured = self.times(cell).median();
            let error = (estimate - measured) / measured * 100.0;
            Figure::new(format!("model_percent_{what}_{name}"), error, "%")
        };
        [
            figure("vc", estimate.credential, alone(Way::Vc)),
            figure("did", estimate.did, alone(Way::Did)),
            figure(
                "mutual_vc",
                estimate.mutual_credential,
                both(Way::Vc, Way::Vc),
            ),
            figure("mutual_did", estimate.mutual_did, both(Way::Did, Way::Did)),
            figure(
                "hybrid_vc",
                estimate.hybrid_credential,
                both(Way::Vc, Way::X509),
            ),
            figure("hybrid_did", estimate.hybrid_did, both(Way::Did, Way::X509)),
        ]
    }

    /// The model from what was measured. What a flight takes beside its identity is in each of the three times, so it
    /// falls out of their differences, which are all the model uses.
    fn estimate(&self) -> Estimate {
        let processing = |way: Way| self.processing.get(&way).map_or(0.0, Sample::median);
        let processing = Processing {
            certificate: processing(Way::X509),
            credential: processing(Way::Vc),
            did: processing(Way::Did),
        };
        let original = Original {
            unilateral: self.times(alone(Way::X509)).median(),
            mutual: self.times(both(Way::X509, Way::X509)).median(),
        };
        original.estimate(&processing)
    }

    /// As the paper's figures 4 and 5, for each way: the spread of what was measured, and of the model's estimates from
    /// each measured handshake with X.509.
    pub fn charts(&self, kind: Kind) -> Vec<Chart> {
        let estimate = self.estimate();
        let unilateral = self.times(alone(Way::X509));
        let mutual = self.times(both(Way::X509, Way::X509));
        let chart = |title: &str, way: Way, cell: Cell, (original, estimate): (&Sample, f64)| {
            let shift = estimate - original.median();
            Chart {
                title: format!("{title} with {} ({}), ms", way.name(), kind.name()),
                x: "% of handshakes".to_owned(),
                lines: vec![
                    line("measured", &self.times(cell), 0.0),
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
                chart("unilateral", way, alone(way), (&unilateral, one)),
                chart("mutual", way, both(way, way), (&mutual, two)),
            ]
        })
        .collect()
    }

    fn times(&self, cell: Cell) -> Sample {
        self.ours.get(&cell).cloned().unwrap_or_default()
    }
}

/// The worst of the ratios to rustls.
pub fn beside_rustls(ratios: &[f64]) -> Figure {
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    Figure::new("x509_ratio_rustls", worst, "").bar(Bar::AtMost(1.15))
}

/// The flights of the profile `selfsame`.
pub fn flights(vc: usize, did: usize) -> [Figure; 2] {
    [
        Figure::new("vc_flight_bytes", vc as f64, "B")
            .bar(Bar::AtMost(400.0))
            .study(EDDSA.bytes[1]),
        Figure::new("did_flight_bytes", did as f64, "B")
            .bar(Bar::AtMost(300.0))
            .study(EDDSA.bytes[2]),
    ]
}

/// The memory of 5,000 idle connections.
pub fn idle(grown_mb: f64, plan: Plan) -> Figure {
    let scale = 5_000.0 / plan.idle.max(1) as f64;
    let figure = Figure::new("idle_5000_mb", grown_mb * scale, "MB").bar(Bar::AtMost(150.0));
    match plan.idle {
        5_000 => figure,
        count => figure.note(format!("scaled up from {count} connections")),
    }
}

fn alone(server: Way) -> Cell {
    Cell {
        server,
        client: None,
    }
}

fn both(server: Way, client: Way) -> Cell {
    Cell {
        server,
        client: Some(client),
    }
}

fn time(name: String, sample: &Sample) -> Figure {
    Figure::new(name, sample.median(), "ms").spread(sample.deviation())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(value: f64) -> Sample {
        let mut sample = Sample::default();
        sample.push(value);
        sample
    }

    #[test]
    fn a_ratio_is_of_mutual_handshakes_and_has_its_bar() {
        let mut found = Found::default();
        found.ours.insert(both(Way::X509, Way::X509), sample(2.0));
        found.ours.insert(both(Way::Vc, Way::Vc), sample(1.5));
        found.ours.insert(both(Way::Did, Way::Did), sample(2.06));
        let of = |kind| {
            let figures = found.ratios(kind);
            figures
                .iter()
                .map(|figure| (figure.value, figure.holds))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(Kind::Eddsa), [(0.75, Some(true)), (1.03, Some(false))]);
        assert_eq!(of(Kind::Rsa), [(0.75, Some(true)), (1.03, Some(true))]);
    }

    #[test]
    fn the_model_is_compared_with_what_was_measured() {
        let mut found = Found::default();
        for (way, value) in [(Way::X509, 0.3), (Way::Vc, 0.2), (Way::Did, 0.1)] {
            found.processing.insert(way, sample(value));
        }
        found.ours.insert(alone(Way::X509), sample(0.5));
        found.ours.insert(alone(Way::Vc), sample(0.4));
        found.ours.insert(alone(Way::Did), sample(0.25));
        let errors = found.errors("ecdsa");
        assert_eq!(errors[0].value, 0.0);
        assert_eq!(errors[1].value, 20.0);
    }
}
