//! The figures of the measurements, with the paper's.

use std::collections::BTreeMap;

use super::TlsPlan;
use super::alone::Signatures;
use super::cell::{Cell, Lookup, Way};
use super::model::{Estimate, Original, Processing};
use super::study::Study;
use super::world::KeyKind;
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// The measurements of one algorithm, times in milliseconds.
#[derive(Debug, Default)]
pub struct AlgorithmFigures {
    /// The times of signatures.
    pub signatures: Signatures,
    /// A client's times for a server's flight.
    pub processing: BTreeMap<(Lookup, Way), Sample>,
    /// A client's times of requests to the registry for a DID.
    pub resolving: Sample,
    /// The times of our handshakes.
    pub ours: BTreeMap<(Lookup, Cell), Sample>,
    /// Our mutual handshakes relative to those with certificates, in turns: for each pair, the ratio of the medians.
    pub pairs: BTreeMap<(Lookup, Cell), Sample>,
    /// The bytes that our server sent in a handshake.
    pub sent: BTreeMap<(Lookup, Cell), usize>,
    /// The handshakes of rustls.
    pub rustls: Others,
    /// The handshakes of OpenSSL, if it took part.
    pub openssl: Option<Others>,
    /// The memory of idle connections.
    pub idle_mb: Option<f64>,
}

/// Another implementation's handshakes with certificates.
#[derive(Debug, Default)]
pub struct Others {
    /// Times in milliseconds.
    pub times: BTreeMap<Cell, Sample>,
    /// The bytes that its server sent.
    pub sent: BTreeMap<Cell, usize>,
}

const UNILATERAL: Cell = Cell::alone(Way::X509);
/// The handshakes with which those with credentials and DIDs are compared.
pub(super) const MUTUAL: Cell = Cell::both(Way::X509, Way::X509);
const HYBRIDS: [(Way, Way); 4] = [
    (Way::X509, Way::Vc),
    (Way::X509, Way::Did),
    (Way::Vc, Way::X509),
    (Way::Did, Way::X509),
];

impl AlgorithmFigures {
    /// All figures of this algorithm.
    pub fn figures(&self, kind: KeyKind, plan: TlsPlan) -> Vec<Figure> {
        let study = Study::of(kind);
        let name = kind.name();
        let [made, checked] = signatures(name, &self.signatures);
        let mut figures = vec![made, checked.study(study.verification)];
        for (place, way) in Way::ALL.into_iter().enumerate() {
            let of = |studied: [f64; 3]| studied.get(place).copied().unwrap_or_default();
            let figure = |what: &str| format!("{what}_{}_{name}", way.name());
            let sent = self.bytes(Lookup::Cached, Cell::alone(way));
            figures.push(Figure::new(figure("bytes"), sent, "B").study(of(study.bytes)));
            let processing = time(figure("process_ms"), &self.processing(Lookup::Cached, way));
            figures.push(processing.study(of(study.processing)));
        }
        figures.extend(self.tables(kind, Lookup::Cached));
        figures.extend(self.ratios(kind, Lookup::Cached));
        for lookup in Lookup::BESIDE {
            let mut beside = self.tables(kind, lookup);
            beside.extend(self.ratios(kind, lookup));
            beside.extend(self.lookups(kind, lookup));
            figures.extend(beside.into_iter().map(|figure| said(figure, plan)));
        }
        figures.extend(self.others(name));
        for lookup in [Lookup::Cached, Lookup::Cold] {
            figures.extend(self.errors(name, lookup));
        }
        figures
    }

    /// Tables IV and V. The paper resolved every DID within the handshake.
    fn tables(&self, kind: KeyKind, lookup: Lookup) -> Vec<Figure> {
        let (study, name) = (Study::of(kind), kind.name());
        let prefix = lookup.prefix();
        let mut figures = Vec::new();
        for (place, way) in Way::ALL.into_iter().enumerate() {
            if way == Way::X509 && lookup != Lookup::Cached {
                continue;
            }
            let of = |studied: [f64; 3]| studied.get(place).copied().unwrap_or_default();
            let figure = |what: &str| format!("{prefix}{what}_ms_{}_{name}", way.name());
            let unilateral = self.times(lookup, Cell::alone(way));
            figures.push(time(figure("unilateral"), &unilateral).study(of(study.unilateral)));
            let mutual = self.times(lookup, Cell::both(way, way));
            figures.push(time(figure("mutual"), &mutual).study(of(study.mutual)));
        }
        for ((server, client), studied) in HYBRIDS.into_iter().zip(study.hybrid) {
            let (server_name, client_name) = (server.name(), client.name());
            let figure = format!("{prefix}hybrid_ms_{server_name}_{client_name}_{name}");
            let times = self.times(lookup, Cell::both(server, client));
            figures.push(time(figure, &times).study(studied));
        }
        figures
    }

    /// Mutual handshakes relative to ours with X.509: the lower quartile of the pairs, which is the ratio when no other
    /// work disturbs the machine. A checkpoint that is new each time has no bar.
    fn ratios(&self, kind: KeyKind, lookup: Lookup) -> Vec<Figure> {
        let most = match (lookup, kind) {
            (Lookup::Cached | Lookup::Stapled, KeyKind::Rsa) => Some(1.05),
            (Lookup::Cached | Lookup::Stapled, KeyKind::Ecdsa | KeyKind::Eddsa) => Some(1.0),
            (Lookup::Cold, KeyKind::Rsa) => Some(1.5),
            (Lookup::Cold, KeyKind::Ecdsa) => Some(1.8),
            (Lookup::Cold, KeyKind::Eddsa) => Some(2.1),
            (Lookup::StapledUnknown, _) => None,
        };
        let study = Study::of(kind);
        let studied = |place: usize| {
            let [x509, others @ ..] = study.mutual;
            others.get(place).copied().unwrap_or_default() / x509
        };
        let ratio = |(place, way): (usize, Way)| {
            let pairs = self.pairs.get(&(lookup, Cell::both(way, way)));
            let ratio = pairs.map_or(f64::NAN, |pairs| pairs.quantile(0.25));
            let median = pairs.map_or(f64::NAN, Sample::median);
            let name = format!("{}{}_ratio_{}", lookup.prefix(), way.name(), kind.name());
            let figure = Figure::new(name, ratio, "")
                .study(hundredths(studied(place)))
                .note(format!("median of the pairs {}", hundredths(median)));
            match most {
                Some(most) => figure.bar(Bar::AtMost(most)),
                None => figure,
            }
        };
        Way::WITH_DID.into_iter().enumerate().map(ratio).collect()
    }

    /// The time and size of a look-up itself.
    fn lookups(&self, kind: KeyKind, lookup: Lookup) -> Vec<Figure> {
        let name = kind.name();
        let processing = |way: Way| {
            let name = format!("{}process_ms_{}_{name}", lookup.prefix(), way.name());
            time(name, &self.processing(lookup, way))
        };
        match lookup {
            Lookup::Cached => Vec::new(),
            Lookup::Cold => {
                let [.., did] = Study::of(kind).processing;
                let resolving = time(format!("resolve_ms_{name}"), &self.resolving);
                vec![resolving.study(did)]
            }
            Lookup::Stapled => {
                let with = self.bytes(Lookup::Stapled, Cell::alone(Way::Did));
                let without = self.bytes(Lookup::Cold, Cell::alone(Way::Did));
                let weight = Figure::new(format!("staple_bytes_{name}"), with - without, "B");
                let mut figures = vec![weight];
                figures.extend(Way::WITH_DID.map(processing));
                figures
            }
            Lookup::StapledUnknown => Way::WITH_DID.map(processing).to_vec(),
        }
    }

    fn others(&self, name: &str) -> Vec<Figure> {
        let figures = |which: &str, others: &Others| {
            let of = |cell: Cell| others.times.get(&cell).cloned().unwrap_or_default();
            let sent = others.sent.get(&UNILATERAL).copied().unwrap_or_default();
            [
                Figure::new(format!("{which}_bytes_{name}"), sent as f64, "B"),
                time(format!("{which}_unilateral_ms_{name}"), &of(UNILATERAL)),
                time(format!("{which}_mutual_ms_{name}"), &of(MUTUAL)),
            ]
        };
        let mut all = figures("rustls", &self.rustls).to_vec();
        if let Some(openssl) = &self.openssl {
            all.extend(figures("openssl", openssl));
        }
        all
    }

    /// Our mutual handshakes with X.509 relative to those of rustls and, if it took part, OpenSSL.
    pub fn beside(&self) -> [Option<f64>; 2] {
        let ours = self.times(Lookup::Cached, MUTUAL).median();
        let theirs = |others: &Others| others.times.get(&MUTUAL).map(|their| ours / their.median());
        [theirs(&self.rustls), self.openssl.as_ref().and_then(theirs)]
    }

    /// The difference between the model and the measurements, in per cent of the measurement.
    fn errors(&self, name: &str, lookup: Lookup) -> [Figure; 6] {
        let estimate = self.estimate(lookup);
        let figure = |what: &str, estimate: f64, cell: Cell| {
            let measured = self.times(lookup, cell).median();
            let error = (estimate - measured) / measured * 100.0;
            let name = format!("{}model_percent_{what}_{name}", lookup.prefix());
            Figure::new(name, error, "%")
        };
        let (vc, did) = (Way::Vc, Way::Did);
        [
            figure("vc", estimate.credential, Cell::alone(vc)),
            figure("did", estimate.did, Cell::alone(did)),
            figure("mutual_vc", estimate.mutual_credential, Cell::both(vc, vc)),
            figure("mutual_did", estimate.mutual_did, Cell::both(did, did)),
            figure(
                "hybrid_vc",
                estimate.hybrid_credential,
                Cell::both(vc, Way::X509),
            ),
            figure(
                "hybrid_did",
                estimate.hybrid_did,
                Cell::both(did, Way::X509),
            ),
        ]
    }

    /// The model's estimate from the measurements. The part of a flight besides its identity is in each of the three
    /// times, so it cancels in their differences, which are all that the model uses. T_D is the registry's time if the
    /// registry is asked.
    pub(super) fn estimate(&self, lookup: Lookup) -> Estimate {
        let processing = |way: Way| self.processing(Lookup::Cached, way).median();
        let asking = match lookup {
            Lookup::Cold => self.resolving.median(),
            Lookup::Cached | Lookup::Stapled | Lookup::StapledUnknown => 0.0,
        };
        let processing = Processing {
            certificate: processing(Way::X509),
            credential: processing(Way::Vc) + asking,
            did: processing(Way::Did) + asking,
        };
        let original = Original {
            unilateral: self.times(Lookup::Cached, UNILATERAL).median(),
            mutual: self.times(Lookup::Cached, MUTUAL).median(),
        };
        original.estimate(&processing)
    }

    pub(super) fn times(&self, lookup: Lookup, cell: Cell) -> Sample {
        self.ours.get(&(lookup, cell)).cloned().unwrap_or_default()
    }

    fn processing(&self, lookup: Lookup, way: Way) -> Sample {
        self.processing
            .get(&(lookup, way))
            .cloned()
            .unwrap_or_default()
    }

    fn bytes(&self, lookup: Lookup, cell: Cell) -> f64 {
        self.sent.get(&(lookup, cell)).copied().unwrap_or_default() as f64
    }
}

/// The worst ratio to rustls, and to OpenSSL.
pub fn beside(ratios: &[[Option<f64>; 2]]) -> Vec<Figure> {
    let worst = |of: fn(&[Option<f64>; 2]) -> Option<f64>| {
        let known = ratios.iter().filter_map(of);
        known.reduce(f64::max)
    };
    let rustls = worst(|[rustls, _]| *rustls).unwrap_or(f64::NAN);
    let mut figures = vec![Figure::new("x509_ratio_rustls", rustls, "").bar(Bar::AtMost(1.15))];
    if let Some(openssl) = worst(|[_, openssl]| *openssl) {
        figures.push(Figure::new("x509_ratio_openssl", openssl, ""));
    }
    figures
}

/// The sizes of flights in the profile `selfsame`.
pub fn flights(vc: usize, did: usize) -> [Figure; 2] {
    let [_, studied_vc, studied_did] = Study::of(KeyKind::Eddsa).bytes;
    [
        Figure::new("vc_flight_bytes", vc as f64, "B")
            .bar(Bar::AtMost(400.0))
            .study(studied_vc),
        Figure::new("did_flight_bytes", did as f64, "B")
            .bar(Bar::AtMost(300.0))
            .study(studied_did),
    ]
}

/// The times to make and to check a signature with this algorithm.
pub fn signatures(name: &str, signatures: &Signatures) -> [Figure; 2] {
    [
        time(format!("sign_ms_{name}"), &signatures.made),
        time(format!("verify_ms_{name}"), &signatures.checked),
    ]
}

/// The memory of 5,000 idle connections.
pub fn idle(grown_mb: f64, plan: TlsPlan) -> Figure {
    let scale = 5_000.0 / plan.idle.max(1) as f64;
    let figure = Figure::new("idle_5000_mb", grown_mb * scale, "MB").bar(Bar::AtMost(150.0));
    match plan.idle {
        5_000 => figure,
        count => figure.note(format!("scaled up from {count} connections")),
    }
}

/// Notes the number of identities in the registry, if it is smaller than the paper's.
fn said(figure: Figure, plan: TlsPlan) -> Figure {
    match plan.identities {
        TlsPlan::IDENTITIES.. => figure,
        fewer => {
            let few = format!("{fewer} identities a side in the registry");
            let said = match &figure.note {
                Some(note) => format!("{note}; {few}"),
                None => few,
            };
            figure.note(said)
        }
    }
}

fn time(name: String, sample: &Sample) -> Figure {
    Figure::new(name, sample.median(), "ms").spread(sample.deviation())
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(value: f64) -> Sample {
        let mut sample = Sample::default();
        sample.push(value);
        sample
    }

    fn cached(found: &mut AlgorithmFigures, cell: Cell, value: f64) {
        found.ours.insert((Lookup::Cached, cell), sample(value));
    }

    #[test]
    fn a_ratio_is_the_lower_quartile_of_the_pairs_and_has_its_bar() {
        let mut found = AlgorithmFigures::default();
        let mut paired = |lookup, way, ratios: [f64; 5]| {
            let sample = found.pairs.entry((lookup, Cell::both(way, way)));
            let sample = sample.or_default();
            ratios.into_iter().for_each(|ratio| sample.push(ratio));
        };
        for lookup in [Lookup::Cached, Lookup::Cold, Lookup::StapledUnknown] {
            paired(lookup, Way::Vc, [0.7, 0.75, 0.8, 5.0, 6.0]);
            paired(lookup, Way::Did, [1.02, 1.03, 1.1, 1.2, 1.9]);
        }
        let of = |kind| {
            let figures = found.ratios(kind, Lookup::Cached);
            figures
                .iter()
                .map(|figure| (figure.value, figure.holds))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of(KeyKind::Eddsa),
            [(0.75, Some(true)), (1.03, Some(false))]
        );
        assert_eq!(of(KeyKind::Rsa), [(0.75, Some(true)), (1.03, Some(true))]);
        let cold = found.ratios(KeyKind::Ecdsa, Lookup::Cold);
        assert_eq!((cold[0].holds, cold[0].study), (Some(true), Some(2.48)));
        let new = found.ratios(KeyKind::Ecdsa, Lookup::StapledUnknown);
        assert_eq!(new[0].holds, None);
        // A figure without measurements does not meet its bar.
        let none = found.ratios(KeyKind::Ecdsa, Lookup::Stapled);
        assert_eq!(none[0].holds, Some(false));
    }

    #[test]
    fn the_model_is_compared_with_what_was_measured() {
        let mut found = AlgorithmFigures::default();
        for (way, value) in [(Way::X509, 0.3), (Way::Vc, 0.2), (Way::Did, 0.1)] {
            found
                .processing
                .insert((Lookup::Cached, way), sample(value));
        }
        cached(&mut found, UNILATERAL, 0.5);
        cached(&mut found, Cell::alone(Way::Vc), 0.4);
        cached(&mut found, Cell::alone(Way::Did), 0.25);
        let errors = found.errors("ecdsa", Lookup::Cached);
        assert_eq!((errors[0].value, errors[1].value), (0.0, 20.0));
        // If the registry is asked, T_D is the time of that request.
        found.resolving = sample(1.0);
        let cell = Cell::alone(Way::Did);
        found.ours.insert((Lookup::Cold, cell), sample(1.3));
        assert_eq!(found.errors("ecdsa", Lookup::Cold)[1].value, 0.0);
    }
}
