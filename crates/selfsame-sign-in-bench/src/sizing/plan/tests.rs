use super::*;
use crate::sizing::{FlowShare, SignInFlow};

const FIGURES: &str = r#"{"bench": "signin", "quick": false, "machine": {"processor": "P", "cores": 2}, "figures": [
    {"name": "cpu_ms_rsa", "value": 2.0}, {"name": "cpu_ms_ec", "value": 1.0}, {"name": "cpu_ms_standard", "value": 0.5},
    {"name": "rss_mb", "value": 50.0}, {"name": "rss_mb_5000", "value": 150.0}, {"name": "stored_bytes", "value": 1000.0},
    {"name": "log_bytes", "value": 200.0}]}"#;

fn demand() -> SizeDemand {
    SizeDemand {
        people: 3_600_000,
        peak_percent: 10.0,
        burst: 2.0,
        flows: vec![FlowShare {
            flow: SignInFlow::EsignetRsa,
            percent: 100.0,
        }],
        identity_ms: 1_000.0,
        parties: 2.0,
        sign_ins_year: 10.0,
        log_days: 36.5,
        busy_percent: 50.0,
        process_cores: 2,
        database_percent: 50.0,
    }
}

fn plan(demand: &SizeDemand) -> SizePlan {
    SizePlan::of(demand, &SizeFigures::read(FIGURES).unwrap())
}

#[test]
fn a_plan_is_what_the_figures_say() {
    let plan = plan(&demand());
    assert_eq!((plan.sign_ins_s, plan.peak_sign_ins_s), (100.0, 200.0));
    assert_eq!((plan.peak_requests_s, plan.under_way), (1_400.0, 600.0));
    // 200 sign-ins take 0.4 cores, which are half of 0.8: one process, and one to spare; each holds all 600.
    let providers = SizePart {
        processes: 2,
        cores: 4,
        memory_mb: 124.0,
    };
    assert_eq!(plan.providers, providers);
    assert_eq!((plan.database.cores, plan.database.memory_mb), (2, 1_744.0));
    assert_eq!((plan.records_gb, plan.logs_gb), (14.4, 0.7));
}

#[test]
fn more_people_need_no_less_of_anything() {
    let mut last = plan(&demand());
    for millions in [4, 8, 40, 400, 1_400] {
        let next = plan(&SizeDemand {
            people: millions * 1_000_000,
            ..demand()
        });
        for (less, more) in [
            (last.providers, next.providers),
            (last.database, next.database),
        ] {
            let grows = less.cores <= more.cores && less.memory_mb <= more.memory_mb;
            assert!(grows && less.processes <= more.processes, "{millions}");
        }
        assert!(last.records_gb < next.records_gb && last.logs_gb < next.logs_gb);
        last = next;
    }
}

#[test]
fn a_mix_of_flows_takes_what_its_parts_take() {
    let share = |flow, percent| FlowShare { flow, percent };
    let mixed = SizeDemand {
        people: 360_000_000,
        flows: vec![
            share(SignInFlow::EsignetRsa, 50.0),
            share(SignInFlow::Standard, 50.0),
        ],
        ..demand()
    };
    assert!(mixed.is_whole());
    // 20,000 sign-ins of 1.25 ms take 25 cores, which are half of 50: 25 processes, and one to spare.
    let plan = plan(&mixed);
    assert_eq!((plan.providers.processes, plan.providers.cores), (26, 52));
    assert_eq!(plan.peak_requests_s, 120_000.0);
}

#[test]
fn a_plan_tells_its_assumptions() {
    let text = plan(&demand()).lines().join("\n");
    for told in [
        "200 at its busiest moment: 1400 requests",
        "100 % esignet-rsa",
        "Measured on P, 2 cores.",
        "not measured",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
}
