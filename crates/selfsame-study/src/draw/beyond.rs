//! What none of the papers measured: the cost of a credential over its life, a drill, a registry that proves its answers.

use crate::number::number;
use crate::part::{BenchPart, Measured};
use crate::study::Study;

use super::markup::Markup;

/// The load tests that this section draws.
const LIFE: &str = crate::LIFE;
const REGISTRY: &str = "registry";

/// The parts of a credential's life, with the ends of the figures' names.
const SHARES: [[&str; 2]; 4] = [
    ["Issuance", "issuance"],
    ["Ten presentations", "presentations"],
    ["Revocation, until the list shows it", "revocation"],
    ["Whole life", "whole"],
];

/// The processes that are killed, with the ends of the figures' names.
const PROCESSES: [[&str; 2]; 4] = [
    ["Registry", "registry"],
    ["Issuer", "issuer"],
    ["Wallet", "wallet"],
    ["Verifier", "verifier"],
];

/// The figures of the registry, with what they are.
const REGISTRY_ROWS: [[&str; 2]; 9] = [
    ["One durable write, median, one process", "write_p50_ms"],
    ["Writes in batches, one process", "batched_ops_s"],
    ["Objects served with their proofs", "proofs_served_s"],
    ["Proofs that one core checks", "proof_checks_s"],
    ["Verified reads from memory", "cached_reads_s"],
    ["One write, median, four validators", "bft_p50_ms"],
    ["One write, 99th percentile, four validators", "bft_p99_ms"],
    ["Writes in batches, four validators", "bft_batched_ops_s"],
    [
        "A validator that was away has caught up after",
        "catch_up_s",
    ],
];

/// Numbers of credentials a year for the model.
const YEARLY: [f64; 3] = [100_000.0, 1_000_000.0, 10_000_000.0];

/// Whether there is anything to show.
pub fn is_there(study: &Study) -> bool {
    [LIFE, REGISTRY]
        .iter()
        .any(|name| study.measured_part(name).is_some())
}

/// The whole section; nothing if nothing was measured.
pub fn section(study: &Study, out: &mut Markup) {
    if !is_there(study) {
        return;
    }
    out.raw("<section aria-labelledby=beyond><h2 id=beyond>What none of them measured</h2>");
    if let Some(life) = study.measured_part(LIFE) {
        cost(life, out);
        model(life, out);
        drill(life, out);
    }
    if let Some(registry) = study.measured_part(REGISTRY) {
        proofs(registry, out);
    }
    out.raw("</section>");
}

fn value(part: &BenchPart, name: &str) -> Option<f64> {
    part.value(name, Measured::Own)
}

fn cell(part: &BenchPart, name: &str, out: &mut Markup) {
    let text = value(part, name).map_or_else(|| "–".to_owned(), number);
    out.element("<td>", &text, "</td>");
}

fn cost(life: &BenchPart, out: &mut Markup) {
    out.raw("<h3>One credential over its life</h3><p>A credential is issued, presented ten times, revoked, and refused from then on. Issuer, wallet and verifier are one process; each number is for one credential, the mean of ");
    let lived = life
        .figure("life_refused_after")
        .and_then(|figure| figure.value);
    out.text(&lived.map(number).unwrap_or_default());
    out.raw(", all of which were refused afterwards if they were revoked.</p>");
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"One credential over its life\"><table><caption><span>Cost of one credential, all three parties together</span></caption><thead><tr><th scope=col class=l>Part of its life</th><th scope=col>Time, ms</th><th scope=col>Processor, ms</th><th scope=col>Bytes on the wire</th><th scope=col>Bytes written to disk</th></tr></thead><tbody>");
    for [name, end] in SHARES {
        out.element("<tr><th scope=row>", name, "</th>");
        for what in ["ms", "cpu_ms", "wire_bytes", "written_bytes"] {
            cell(life, &format!("life_{what}_{end}"), out);
        }
        out.raw("</tr>");
    }
    out.raw("</tbody></table></div><p class=cite>On the wire: everything over the loopback, the controllers’ calls and the parties’ own, with the headers of TCP and IP; other programs’ traffic on this machine would count too. The time of the revocation is mostly the wait for the next list, which all revocations of a second share. After its life, ");
    let stored = value(life, "life_stored_bytes").map(number);
    out.text(&stored.unwrap_or_else(|| "an unknown number of".to_owned()));
    out.raw(" bytes of records stay.</p>");
}

/// What the measured cost means for a year: marked as a model.
fn model(life: &BenchPart, out: &mut Markup) {
    let (Some(cpu_ms), Some(bytes)) = (
        value(life, "life_cpu_ms_whole"),
        value(life, "life_stored_bytes"),
    ) else {
        return;
    };
    out.raw("<div class=model><p><strong>A model, not a measurement.</strong> If a year’s credentials each cost what the table says, and nothing else happened:</p><div class=scroll tabindex=0 role=region aria-label=\"Growth model\"><table><caption><span>Credentials a year, each with ten presentations and a revocation (model)</span></caption><thead><tr><th scope=col class=l>Credentials a year</th><th scope=col>Processor, core hours a year</th><th scope=col>Cores busy on average</th><th scope=col>Records, GB a year</th></tr></thead><tbody>");
    for count in YEARLY {
        let hours = count * cpu_ms / 3_600_000.0;
        out.element("<tr><th scope=row>", &number(count), "</th>");
        for amount in [hours, hours / 8_766.0, count * bytes / 1e9] {
            out.element("<td>", &number(amount), "</td>");
        }
        out.raw("</tr>");
    }
    out.raw("</tbody></table></div><p class=cite>Linear in the number of credentials; peaks, backups and other work are left out. The number of records that stay depends on how long events and sign-ins are kept.</p></div>");
}

fn drill(life: &BenchPart, out: &mut Markup) {
    if !life
        .figures
        .iter()
        .any(|one| one.name.starts_with("drill_"))
    {
        return;
    }
    out.raw("<h3>A drill: each process is killed</h3><p>Registry, issuer, wallet and verifier are a process each, with data of their own. Each is killed (SIGKILL) while the others go on, and is started again. A step that needs the process fails meanwhile. The table says what goes on, and whether anything is gone that was acknowledged.</p>");
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"The drill\"><table><caption><span>What goes on while a process is away, and what is lost</span></caption><thead><tr><th scope=col class=l>Killed</th><th scope=col>Issuance goes on</th><th scope=col>Presentation goes on</th><th scope=col>Ready after its start, s</th><th scope=col>All works again after, s</th><th scope=col>Acknowledged credentials lost</th></tr></thead><tbody>");
    for [name, end] in PROCESSES {
        out.element("<tr><th scope=row>", name, "</th>");
        for what in ["issues", "presents"] {
            let text = match value(life, &format!("drill_{what}_{end}")) {
                Some(1.0) => "yes",
                Some(_) => "no",
                None => "–",
            };
            out.element("<td>", text, "</td>");
        }
        for what in ["ready_s", "back_s", "lost"] {
            cell(life, &format!("drill_{what}_{end}"), out);
        }
        out.raw("</tr>");
    }
    out.raw("</tbody></table></div>");
}

fn proofs(registry: &BenchPart, out: &mut Markup) {
    let rows = || {
        let known = REGISTRY_ROWS.iter();
        known.filter_map(|[name, figure]| Some((name, registry.figure(figure)?)))
    };
    if rows().next().is_none() {
        return;
    }
    out.raw("<h3>A registry that proves its answers</h3><p>Each read comes with a proof under a checkpoint that the validators signed, so a reader need not trust the node it asks. None of the papers’ ledgers was measured for that.</p>");
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"The registry\"><table><caption><span>The registry</span></caption><thead><tr><th scope=col class=l>What</th><th scope=col>Value</th><th scope=col class=l>Unit</th></tr></thead><tbody>");
    for (name, figure) in rows() {
        out.element("<tr><th scope=row>", name, "</th>");
        let text = figure.value.map_or_else(|| "–".to_owned(), number);
        out.element("<td>", &text, "</td>");
        out.element("<td class=l>", &figure.unit, "</td></tr>");
    }
    out.raw("</tbody></table></div>");
}
