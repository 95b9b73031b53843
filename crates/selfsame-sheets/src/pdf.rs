//! The few objects of PDF 1.7 (ISO 32000-1) that text and squares need.

use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;

/// Width of a page of A4 in points.
pub const WIDTH: u32 = 595;
/// Height of a page of A4 in points.
pub const HEIGHT: u32 = 842;
/// Objects before the first page: catalogue, list of pages, two fonts.
const BEFORE: usize = 4;

/// A typeface that every reader of PDF has (ISO 32000-1 §9.6.2.2).
#[derive(Clone, Copy, Debug)]
pub enum Face {
    /// Helvetica.
    Regular,
    /// Helvetica, bold.
    Bold,
}

/// A place on a page, in points from its lower left corner.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// To the right.
    pub x: u32,
    /// Upwards.
    pub y: u32,
}

/// A text in one line.
#[derive(Clone, Copy, Debug)]
pub struct PdfLine<'a> {
    /// Where it begins.
    pub at: Spot,
    /// Its typeface.
    pub face: Face,
    /// Its size in points.
    pub size: u32,
    /// Its text.
    pub text: &'a str,
}

/// What a page shows.
#[derive(Default)]
pub struct Canvas(Vec<u8>);

impl Canvas {
    /// Adds a text.
    pub fn line(&mut self, line: PdfLine<'_>) {
        let PdfLine { at, face, size, .. } = line;
        let font = match face {
            Face::Regular => "F1",
            Face::Bold => "F2",
        };
        self.add(&format!("BT /{font} {size} Tf {} {} Td (", at.x, at.y));
        for byte in latin(line.text) {
            if matches!(byte, b'(' | b')' | b'\\') {
                self.0.push(b'\\');
            }
            self.0.push(byte);
        }
        self.add(") Tj ET\n");
    }

    /// Adds a field of squares, row by row from its upper left corner; `size` is its width in points.
    pub fn squares(&mut self, at: Spot, size: u32, rows: &[Vec<bool>]) {
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX).max(1);
        // Hundredths of a point keep the squares exact.
        let side = size.saturating_mul(100).checked_div(count).unwrap_or(0);
        self.add("q 0.01 0 0 0.01 0 0 cm\n");
        let (left, mut top) = (at.x.saturating_mul(100), at.y.saturating_mul(100));
        for row in rows {
            top = top.saturating_sub(side);
            let mut x = left;
            // Squares beside each other are one rectangle, so that readers draw no line between them.
            for run in row.chunk_by(|one, next| one == next) {
                let long = u32::try_from(run.len()).unwrap_or(0).saturating_mul(side);
                if run.first() == Some(&true) {
                    self.add(&format!("{x} {top} {long} {side} re\n"));
                }
                x = x.saturating_add(long);
            }
        }
        self.add("f Q\n");
    }

    /// Adds a dashed line around a card, along which it is cut.
    pub fn frame(&mut self, at: Spot, width: u32, height: u32) {
        let Spot { x, y } = at;
        self.add(&format!(
            "q 0.5 w 0.6 G [3 3] 0 d {x} {y} {width} {height} re S Q\n"
        ));
    }

    fn add(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// A document with these pages.
pub fn document(pages: &[Canvas]) -> Vec<u8> {
    let kids = (0..pages.len()).fold(String::new(), |mut kids, number| {
        let _ = write!(kids, "{} 0 R ", page_object(number));
        kids
    });
    let count = pages.len();
    let mut file = PdfFile::new();
    file.object(b"<< /Type /Catalog /Pages 2 0 R >>");
    file.object(format!("<< /Type /Pages /Count {count} /Kids [{kids}] >>").as_bytes());
    for name in ["Helvetica", "Helvetica-Bold"] {
        let font = format!(
            "<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
        );
        file.object(font.as_bytes());
    }
    for (number, page) in pages.iter().enumerate() {
        let content = page_object(number).saturating_add(1);
        let about = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {content} 0 R \
             /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        );
        file.object(about.as_bytes());
        let mut stream = format!("<< /Length {} >>\nstream\n", page.0.len()).into_bytes();
        stream.extend_from_slice(&page.0);
        stream.extend_from_slice(b"\nendstream");
        file.object(&stream);
    }
    file.ended()
}

/// The number of the object of a page, which is counted from 0.
fn page_object(number: usize) -> usize {
    let before = number.saturating_mul(2).saturating_add(BEFORE);
    before.saturating_add(1)
}

/// A file with its objects so far.
struct PdfFile {
    bytes: Vec<u8>,
    /// Where each object begins.
    places: Vec<usize>,
}

impl PdfFile {
    fn new() -> Self {
        Self {
            // Bytes above 127 tell programs that this is no text (ISO 32000-1 §7.5.2).
            bytes: "%PDF-1.7\n%\u{e2}\u{e3}\u{cf}\u{d3}\n".into(),
            places: Vec::new(),
        }
    }

    fn object(&mut self, content: &[u8]) {
        self.places.push(self.bytes.len());
        let number = self.places.len();
        self.add(&format!("{number} 0 obj\n"));
        self.bytes.extend_from_slice(content);
        self.add("\nendobj\n");
    }

    /// The file with its cross-reference table (ISO 32000-1 §7.5.4), whose lines have 20 bytes each.
    fn ended(mut self) -> Vec<u8> {
        let start = self.bytes.len();
        let count = self.places.len().saturating_add(1);
        self.add(&format!("xref\n0 {count}\n0000000000 65535 f \n"));
        for place in std::mem::take(&mut self.places) {
            self.add(&format!("{place:010} 00000 n \n"));
        }
        self.add(&format!(
            "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
        ));
        self.bytes
    }

    fn add(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// A text in the encoding of these fonts (ISO 32000-1 Annex D). A letter that it lacks loses its marks; what has no such
/// form is a question mark.
fn latin(text: &str) -> Vec<u8> {
    text.nfc().filter_map(encoded).collect()
}

fn encoded(one: char) -> Option<u8> {
    match one {
        ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(u32::from(one)).ok(),
        '€' => Some(0x80),
        '‘' => Some(0x91),
        '’' => Some(0x92),
        '“' => Some(0x93),
        '”' => Some(0x94),
        '–' => Some(0x96),
        '—' => Some(0x97),
        '…' => Some(0x85),
        'Š' => Some(0x8A),
        'š' => Some(0x9A),
        'Ž' => Some(0x8E),
        'ž' => Some(0x9E),
        'Œ' => Some(0x8C),
        'œ' => Some(0x9C),
        'Ł' => Some(b'L'),
        'ł' => Some(b'l'),
        'Đ' => Some(b'D'),
        'đ' => Some(b'd'),
        'ı' => Some(b'i'),
        _ => {
            let plain = std::iter::once(one)
                .nfd()
                .next()
                .filter(char::is_ascii_graphic);
            let plain = plain.and_then(|plain| u8::try_from(u32::from(plain)).ok());
            Some(plain.unwrap_or(b'?'))
        }
    }
}
