//! Sheets of cards with QR codes, to print and to cut.

use qrcode::{Color, EcLevel, QrCode};

use crate::pdf::{Canvas, Face, HEIGHT, PdfLine, Spot, document};

/// Cards beside each other.
const ACROSS: u32 = 2;
/// Cards above each other.
const DOWN: u32 = 4;
/// The margin of a page, in points.
const MARGIN: u32 = 24;
/// The size of a card, in points.
const CARD: Spot = Spot { x: 273, y: 198 };
/// The width of a QR code with its quiet zone, in points.
const CODE: u32 = 150;
/// The modules around a code that stay light (ISO/IEC 18004 §5.3.8).
const QUIET: usize = 4;
/// The number of characters in a line beside the code.
const ACROSS_TEXT: usize = 20;
/// The number of lines beside the code, at most.
const LINES: usize = 12;

/// What a card of a sheet shows.
#[derive(Clone, Debug)]
pub struct SheetCard<'a> {
    /// Its title, such as what is offered.
    pub title: &'a str,
    /// Whose it is.
    pub name: &'a str,
    /// What the QR code opens.
    pub link: &'a str,
    /// What to do with it.
    pub help: &'a str,
}

/// These cards as PDF, eight on a page of A4. A link that is too long for a code has none, and the card says so.
#[must_use]
pub fn sheet(cards: &[SheetCard<'_>]) -> Vec<u8> {
    let on_page = ACROSS.saturating_mul(DOWN) as usize;
    let mut pages: Vec<Canvas> = cards.chunks(on_page).map(page).collect();
    if pages.is_empty() {
        pages.push(Canvas::default());
    }
    document(&pages)
}

fn page(cards: &[SheetCard<'_>]) -> Canvas {
    let mut canvas = Canvas::default();
    for (number, card) in (0_u32..).zip(cards) {
        let (column, row) = (number % ACROSS, number / ACROSS);
        let at = Spot {
            x: column.saturating_mul(CARD.x).saturating_add(MARGIN),
            y: HEIGHT
                .saturating_sub(MARGIN)
                .saturating_sub(row.saturating_add(1).saturating_mul(CARD.y)),
        };
        draw(&mut canvas, at, card);
    }
    canvas
}

/// Draws a card whose lower left corner is there.
fn draw(canvas: &mut Canvas, at: Spot, card: &SheetCard<'_>) {
    canvas.frame(at, CARD.x, CARD.y);
    let top = at.y.saturating_add(CARD.y);
    let code = modules(card.link);
    let upper = Spot {
        x: at.x.saturating_add(4),
        y: top.saturating_sub(24),
    };
    canvas.squares(upper, CODE, &code);
    let mut lines: Vec<PdfLine<'_>> = Vec::new();
    let title = wrapped(card.title);
    let name = wrapped(card.name);
    let help = match code.is_empty() {
        true => wrapped("This link is too long for a QR code."),
        false => wrapped(card.help),
    };
    let texts = [
        (Face::Bold, 11, &title),
        (Face::Regular, 11, &name),
        (Face::Regular, 9, &help),
    ];
    let mut y = top.saturating_sub(32);
    for (face, size, texts) in texts {
        for text in texts {
            let at = Spot {
                x: at.x.saturating_add(CODE).saturating_add(8),
                y,
            };
            lines.push(PdfLine {
                at,
                face,
                size,
                text,
            });
            y = y.saturating_sub(13);
        }
        y = y.saturating_sub(6);
    }
    for line in lines.into_iter().take(LINES) {
        canvas.line(line);
    }
}

/// A text in lines of the width beside a code. Longer words are cut.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word: String = word.chars().take(ACROSS_TEXT).collect();
        match lines.last_mut() {
            Some(last)
                if last.chars().count().saturating_add(word.chars().count()) < ACROSS_TEXT =>
            {
                last.push(' ');
                last.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines.truncate(5);
    lines
}

/// The dark modules of the code of a link, row by row, with the light ones around them; none if it is too long.
fn modules(link: &str) -> Vec<Vec<bool>> {
    let Ok(code) = QrCode::with_error_correction_level(link, EcLevel::L) else {
        return Vec::new();
    };
    let width = code.width().max(1);
    let light = vec![false; width.saturating_add(QUIET.saturating_mul(2))];
    let colors = code.to_colors();
    let rows = colors.chunks(width).map(|row| {
        let quiet = || std::iter::repeat_n(false, QUIET);
        let dark = row.iter().map(|one| *one == Color::Dark);
        quiet().chain(dark).chain(quiet()).collect()
    });
    let quiet = || std::iter::repeat_n(light.clone(), QUIET);
    quiet().chain(rows).chain(quiet()).collect()
}
