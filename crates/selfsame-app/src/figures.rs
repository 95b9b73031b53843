//! The application's metrics.

use selfsame_core::events::EventKind;

use crate::App;

/// Sets the metrics that are looked up on each reading rather than counted as they happen.
pub async fn note(app: &App) {
    let (commits, took) = app.commits();
    metrics::counter!("selfsame_store_commits_total").absolute(commits);
    // Counters of this library are integers.
    let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    metrics::counter!("selfsame_store_commits_microseconds_total").absolute(took);
    // A store that cannot be read shows in the requests that fail.
    if let Ok(outbox) = app.outbox().await {
        metrics::gauge!("selfsame_outbox_waiting").set(outbox.pending as f64);
        metrics::gauge!("selfsame_outbox_dead").set(outbox.dead as f64);
        let now = app.clock().now();
        let oldest = outbox.oldest.map_or(0, |at| now.seconds_since(at));
        metrics::gauge!("selfsame_outbox_oldest_seconds").set(oldest as f64);
    }
    app.note_certificate_ends();
    for kind in EventKind::ALL {
        let told = app.events().count(kind);
        metrics::counter!("selfsame_events_total", "kind" => <&str>::from(kind)).absolute(told);
    }
    let version = env!("CARGO_PKG_VERSION");
    metrics::gauge!("selfsame_build_info", "version" => version).set(1.0);
    if let Ok(wallet) = app.wallet() {
        metrics::counter!("selfsame_wallet_cards_tagged_total").absolute(wallet.cards_retagged());
    }
    let damaged = f64::from(u8::from(app.is_damaged()));
    metrics::gauge!("selfsame_registry_damaged").set(damaged);
    let doubts = app
        .times()
        .is_some_and(|times| times.view().doubt.is_some());
    let doubted = f64::from(u8::from(doubts));
    metrics::gauge!("selfsame_registry_clock_doubted").set(doubted);
    for one in app.misbehaviour() {
        metrics::counter!(
            "selfsame_registry_misbehaviour_total",
            "validator" => one.validator, "kind" => one.kind
        )
        .absolute(one.count);
    }
    for witness in app.witnesses() {
        let answers = [
            ("cosigned", witness.cosigned),
            ("refused", witness.refused),
            ("none", witness.silent),
        ];
        for (answer, count) in answers {
            metrics::counter!(
                "selfsame_registry_witness_answers_total",
                "witness" => witness.name.clone(), "answer" => answer
            )
            .absolute(count);
        }
    }
}

/// Describes them, for readers of the metrics.
pub fn describe() {
    metrics::describe_counter!("selfsame_store_commits_total", "Durable commits.");
    metrics::describe_counter!(
        "selfsame_store_commits_microseconds_total",
        "Time spent in durable commits."
    );
    metrics::describe_counter!(
        "selfsame_events_total",
        "What this process has done for people, by kind: offers, credentials issued, changes of status, answers."
    );
    metrics::describe_gauge!("selfsame_build_info", "1, with the version of the program.");
    metrics::describe_counter!(
        "selfsame_operator_sign_ins_total",
        "Sign-ins of those who work for organisations, by result."
    );
    metrics::describe_counter!(
        "selfsame_wallet_cards_tagged_total",
        "Cards of former versions that were given the tags by which requests find them."
    );
    describe_calls();
    describe_flows();
    metrics::describe_gauge!(
        "selfsame_certificate_expiry_seconds",
        "Seconds until the first certificate of a chain ends; negative once it has ended."
    );
    metrics::describe_gauge!(
        "selfsame_master_key_rotation",
        "How far a rotation of the master key is: 0 none, 1 begun, 2 ending."
    );
    metrics::describe_counter!(
        "selfsame_master_key_wrapped_total",
        "Tenants' keys that this process has wrapped under another master key."
    );
    describe_registry();
}

fn describe_calls() {
    metrics::describe_gauge!("selfsame_outbox_waiting", "Calls waiting for delivery.");
    metrics::describe_gauge!("selfsame_outbox_dead", "Calls given up.");
    metrics::describe_gauge!(
        "selfsame_outbox_oldest_seconds",
        "How long ago the oldest call was stored that waits for delivery."
    );
    metrics::describe_gauge!(
        "selfsame_outbox_lag_seconds",
        "How late the oldest call is that is due and that no task of this process carries out yet."
    );
    metrics::describe_gauge!(
        "selfsame_outbox_taken",
        "Calls that this process has taken from the outbox and carries out."
    );
    metrics::describe_gauge!(
        "selfsame_outbox_taken_seconds",
        "How long the oldest of these calls has been carried out."
    );
}

fn describe_flows() {
    metrics::describe_histogram!(
        "selfsame_flow_age_seconds",
        "Age of a flow when it leaves a state, by the state."
    );
    metrics::describe_counter!(
        "selfsame_flows_ended_total",
        "Flows that ended, by kind and by how they ended."
    );
    metrics::describe_histogram!(
        "selfsame_revocation_seconds",
        "Time from a decision to revoke until the ledger has it, of revocation registries."
    );
}

fn describe_registry() {
    metrics::describe_gauge!(
        "selfsame_registry_damaged",
        "Whether damage of the registry's ledger was found since the start."
    );
    metrics::describe_gauge!(
        "selfsame_registry_clock_doubted",
        "Whether the registry writes nothing because nothing confirms the clock."
    );
    metrics::describe_counter!(
        "selfsame_registry_misbehaviour_total",
        "Evidence in the network's blocks against its validators, by validator and what it did last."
    );
    metrics::describe_counter!(
        "selfsame_registry_witness_answers_total",
        "Checkpoints shown to each witness of the registry that runs here, by its answer."
    );
}
