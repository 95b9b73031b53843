//! Pictures of the registry, drawn as SVG.

use std::fmt::Write as _;

use selfsame_ledger::view::browse::{BlockView, InclusionView, ValidatorsView};

use super::short_hash;
use crate::text::escaped;

/// The newest blocks as bars, the newest on the right; the height is the number of transactions.
pub fn blocks(blocks: &[BlockView]) -> String {
    const STEP: usize = 24;
    const HIGH: u64 = 92;
    let most = blocks.iter().map(|block| block.transactions).max();
    let most = most.unwrap_or(0).max(1);
    let width = blocks.len().max(30).saturating_mul(STEP);
    let mut svg = format!(
        r#"<svg class="bars" viewBox="0 0 {width} 100" role="img" aria-label="{}">"#,
        bars_in_words(blocks)
    );
    let from_right = (1..).zip(blocks);
    for (place, block) in from_right {
        let x = width
            .saturating_sub(STEP.saturating_mul(place))
            .saturating_add(3);
        // A block without transactions must be visible too.
        let high = block.transactions.saturating_mul(HIGH) / most;
        let high = high.max(3);
        let _ = write!(
            svg,
            r#"<rect class="bar{}" x="{x}" y="{}" width="18" height="{high}" rx="3"><title>Block {}: {}</title></rect>"#,
            if place == 1 { " is-newest" } else { "" },
            HIGH.saturating_sub(high).saturating_add(4),
            block.height,
            transactions(block.transactions),
        );
    }
    svg.push_str("</svg>");
    svg
}

fn bars_in_words(blocks: &[BlockView]) -> String {
    let all: u64 = blocks.iter().map(|block| block.transactions).sum();
    format!(
        "The last {} blocks with {}",
        blocks.len(),
        transactions(all)
    )
}

fn transactions(count: u64) -> String {
    match count {
        1 => "1 transaction".to_owned(),
        _ => format!("{count} transactions"),
    }
}

/// The path from a transaction's leaf up to the log's root, with the sibling hash on each level.
pub fn path(proof: &InclusionView) -> String {
    const ROW: usize = 46;
    const TOP: usize = 34;
    let levels = proof.path.len();
    let height = levels
        .saturating_mul(ROW)
        .saturating_add(TOP.saturating_mul(2));
    let y = |level: usize| {
        height
            .saturating_sub(TOP)
            .saturating_sub(level.saturating_mul(ROW))
    };
    let mut svg = format!(
        r#"<svg class="way" viewBox="0 0 400 {height}" role="img" aria-label="The path from transaction {} through {levels} hashes to the log's root">"#,
        proof.seq_no
    );
    for (level, (hash, left)) in proof.path.iter().zip(&proof.left).enumerate() {
        let (from, to) = (y(level), y(level.saturating_add(1)));
        let (beside, anchor, text) = match left {
            true => (110, "end", 96),
            false => (290, "start", 304),
        };
        let _ = write!(
            svg,
            r#"<path class="way-own" d="M200 {from}V{to}"/><path class="way-beside" d="M{beside} {from}L200 {to}"/><circle class="way-beside-dot" cx="{beside}" cy="{from}" r="6"/><text class="way-hash" x="{text}" y="{}" text-anchor="{anchor}">{}</text>"#,
            from.saturating_add(4),
            hash.get(..8).unwrap_or(hash),
        );
    }
    for level in 0..=levels {
        let class = match level {
            0 => " is-leaf",
            _ if level == levels => " is-root",
            _ => "",
        };
        let _ = write!(
            svg,
            r#"<circle class="way-dot{class}" cx="200" cy="{}" r="8"/>"#,
            y(level)
        );
    }
    let _ = write!(
        svg,
        r#"<text class="way-name" x="200" y="{}" text-anchor="middle">root of {} · {}</text><text class="way-name" x="200" y="{}" text-anchor="middle">transaction {}</text></svg>"#,
        y(levels).saturating_sub(16),
        proof.size,
        short_hash(&proof.root),
        y(0).saturating_add(26),
        proof.seq_no,
    );
    svg
}

/// The validators' weights in a row, with the quorum, and which validators have signed.
pub fn quorum(view: &ValidatorsView) -> String {
    let all: u64 = view.validators.iter().map(|one| one.power).sum();
    let all = all.max(1);
    let signed: u64 = view
        .validators
        .iter()
        .filter(|one| one.signed)
        .map(|one| one.power)
        .sum();
    let part = |power: u64| {
        u64::try_from(u128::from(power).saturating_mul(960) / u128::from(all)).unwrap_or(0)
    };
    let mut svg = format!(
        r#"<svg class="quorum" viewBox="0 0 960 74" role="img" aria-label="{} percent of the weight signed; more than 66 are needed">"#,
        u128::from(signed).saturating_mul(100) / u128::from(all)
    );
    let mut before = 0_u64;
    for one in &view.validators {
        let (x, end) = (part(before), part(before.saturating_add(one.power)));
        let class = if one.signed { "has" } else { "has-not" };
        let width = end.saturating_sub(x).saturating_sub(4).max(2);
        let _ = write!(
            svg,
            r#"<rect class="{class}" x="{}" y="6" width="{width}" height="34" rx="6"><title>{}</title></rect>"#,
            x.saturating_add(2),
            escaped(&one.name)
        );
        before = before.saturating_add(one.power);
    }
    svg.push_str(r#"<path class="mark" d="M640 0V48"/><text class="way-name" x="640" y="67" text-anchor="middle">two thirds</text></svg>"#);
    svg
}

#[cfg(test)]
mod tests {
    use selfsame_ledger::view::browse::ValidatorView;

    use super::*;

    #[test]
    fn a_name_in_a_picture_is_only_text() {
        let validator = ValidatorView {
            name: "<script>&".to_owned(),
            power: u64::MAX,
            percent: 100,
            key: String::new(),
            consensus_key: None,
            steward: None,
            signed: true,
        };
        let view = ValidatorsView {
            validators: vec![validator],
            height: None,
            time: None,
            tolerates: 0,
        };
        let svg = quorum(&view);
        assert!(svg.contains("&lt;script&gt;&amp;") && !svg.contains("<script"));
        assert!(svg.contains("100 percent"));
    }

    #[test]
    fn each_hash_of_a_proof_stands_on_its_side() {
        let proof = InclusionView {
            seq_no: 3,
            transaction: String::new(),
            leaf: String::new(),
            path: vec!["aaaaaaaaaa".to_owned(), "bbbbbbbbbb".to_owned()],
            left: vec![false, true],
            size: 4,
            root: "cc".to_owned(),
            checkpoint: String::new(),
            signers: Vec::new(),
            height: 1,
            time: String::new(),
        };
        let svg = path(&proof);
        assert!(svg.contains(r#"text-anchor="start">aaaaaaaa<"#), "{svg}");
        assert!(svg.contains(r#"text-anchor="end">bbbbbbbb<"#));
        assert_eq!(svg.matches("way-dot").count(), 3);
    }
}
