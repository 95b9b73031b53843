//! Links as QR codes, drawn with characters, for people at a terminal.

use std::io::{self, IsTerminal as _};

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

use crate::output;

/// Wider codes do not fit into a terminal, and are not shown.
const COLUMNS_MAX: usize = 120;
/// Black on white, whatever the colours of the terminal: some wallets read no code in inverse.
const BLACK_ON_WHITE: &str = "\u{1b}[30;107m";
const PLAIN: &str = "\u{1b}[0m";

/// Shows a link as a QR code on standard output, if that is a terminal.
pub fn show(link: &str) {
    if !io::stdout().is_terminal() {
        return;
    }
    for line in code(link).unwrap_or_default() {
        output::say(&format!("{BLACK_ON_WHITE}{line}{PLAIN}"));
    }
}

/// The lines of the code, two of its rows in each; `None` if it would be too wide.
fn code(link: &str) -> Option<Vec<String>> {
    let code = QrCode::with_error_correction_level(link, EcLevel::L).ok()?;
    let drawn = code.render::<Dense1x2>().build();
    let lines: Vec<String> = drawn.lines().map(str::to_owned).collect();
    let is_narrow = lines.iter().all(|line| line.chars().count() <= COLUMNS_MAX);
    is_narrow.then_some(lines)
}

#[cfg(test)]
mod tests {
    use qrcode::Color;

    use super::*;

    const LINK: &str =
        "openid-credential-offer://?credential_offer_uri=https%3A%2F%2Fclinic.example%2F1";
    /// Light rows and columns around a code (ISO/IEC 18004 §5.3.8).
    const QUIET: usize = 4;

    #[test]
    fn the_characters_are_the_code_with_the_light_border_that_readers_need() {
        let modules = QrCode::with_error_correction_level(LINK, EcLevel::L).unwrap();
        let width = modules.width();
        let colors = modules.to_colors();
        let dark = |row: usize, column: usize| {
            let inside = |at: usize| at.checked_sub(QUIET).filter(|at| *at < width);
            let place = inside(row).zip(inside(column));
            place.is_some_and(|(row, column)| colors[row * width + column] == Color::Dark)
        };
        let lines = code(LINK).unwrap();
        assert_eq!(lines.len(), (width + 2 * QUIET).div_ceil(2));
        for (number, line) in lines.iter().enumerate() {
            assert_eq!(line.chars().count(), width + 2 * QUIET);
            for (column, drawn) in line.chars().enumerate() {
                let halves = (dark(2 * number, column), dark(2 * number + 1, column));
                let expected = match halves {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                };
                assert_eq!(drawn, expected, "line {number}, column {column}");
            }
        }
    }

    #[test]
    fn a_code_that_is_too_wide_is_not_drawn() {
        assert_eq!(code(&"x".repeat(2_000)), None);
        assert_eq!(code(&"x".repeat(5_000)), None);
    }
}
