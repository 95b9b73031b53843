use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::*;

fn header() -> FileHeader {
    FileHeader::draw(TenantId::parse("o-1").unwrap())
}

fn seal(header: &FileHeader) -> LineSeal {
    LineSeal::new(&SealingKey::from_bytes([3; 32]), header)
}

fn lines(text: &[u8], buffer: usize) -> Vec<ReadLine> {
    let mut reader = LineReader::new(BufReader::with_capacity(buffer, Cursor::new(text)));
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        lines.push(line);
        assert_eq!(reader.number(), lines.len() as u64);
    }
    lines
}

#[test]
fn a_header_reads_back_and_another_format_version_or_member_is_told() {
    let header = header();
    let line = header.to_line();
    assert_eq!(FileHeader::parse(line.as_bytes()).unwrap(), header);
    let changed = |from: &str, to: &str| FileHeader::parse(line.replace(from, to).as_bytes());
    assert!(matches!(
        changed(r#""version":2"#, r#""version":1"#),
        Err(MoveError::OtherVersion(1))
    ));
    for (from, to) in [
        (FORMAT, "other"),
        ("o-1", "o 1"),
        (r#""version":2"#, r#""version":2,"more":1"#),
        ("{", ""),
    ] {
        let refused = changed(from, to);
        assert!(matches!(refused, Err(MoveError::Foreign(_))), "{to}");
    }
}

#[test]
fn a_derivation_that_no_release_writes_is_refused_before_it_costs_anything() {
    let line = header().to_line();
    let costly = line.replace("m=262144", "m=4294967295");
    assert_ne!(line, costly);
    let costly = FileHeader::parse(costly.as_bytes()).unwrap();
    let refused = costly.seal(&SecretString::from("rain on the roof"));
    assert!(matches!(refused, Err(MoveError::Foreign(_))));
}

#[test]
fn a_line_of_another_file_and_one_with_another_number_do_not_open() {
    let (header, other) = (header(), header());
    let line = seal(&header).line(7, b"said").unwrap();
    assert_eq!(seal(&other).open(line.as_bytes()), Err(NoLine::Changed));
    let moved = line.replace(r#""line":7"#, r#""line":8"#);
    assert_eq!(seal(&header).open(moved.as_bytes()), Err(NoLine::Changed));
    for no in ["", "{}", "[1]", r#"{"line":7,"sealed":"!"}"#, "\u{fffd}"] {
        let opened = seal(&header).open(no.as_bytes());
        assert_eq!(opened, Err(NoLine::Malformed), "{no}");
    }
}

#[test]
fn an_enormous_line_is_passed_over_and_the_next_one_is_read() {
    let enormous = vec![b'x'; LINE_MAX + 1];
    let text = [b"one\n", &enormous[..], b"\ntwo"].concat();
    let expected = [
        ReadLine::Bytes(b"one".to_vec()),
        ReadLine::TooLong,
        ReadLine::Bytes(b"two".to_vec()),
    ];
    assert_eq!(lines(&text, 8192), expected);
    let longest = vec![b'x'; LINE_MAX];
    assert_eq!(lines(&longest, 8192), [ReadLine::Bytes(longest.clone())]);
}

proptest! {
    #[test]
    fn a_line_opens_as_what_was_sealed(number: u64, plain: Vec<u8>) {
        let header = header();
        let line = seal(&header).line(number, &plain).unwrap();
        let opened = seal(&header).open(line.as_bytes());
        prop_assert_eq!(opened, Ok(OpenedLine { number, plain }));
    }

    #[test]
    fn a_line_that_is_changed_or_cut_off_does_not_open(
        plain: Vec<u8>,
        at: prop::sample::Index,
        flip in 1_u8..128,
    ) {
        let header = header();
        let line = seal(&header).line(3, &plain).unwrap().into_bytes();
        let at = at.index(line.len());
        prop_assert!(seal(&header).open(&line[..at]).is_err());
        let mut changed = line;
        changed[at] ^= flip;
        prop_assert!(seal(&header).open(&changed).is_err());
    }

    #[test]
    fn lines_are_what_stands_between_line_feeds(text: Vec<u8>, buffer in 1_usize..64) {
        let text: Vec<u8> = text.iter().map(|byte| if *byte < 40 { b'\n' } else { *byte }).collect();
        let mut expected: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        if expected.last() == Some(&&b""[..]) {
            expected.pop();
        }
        let expected: Vec<ReadLine> = expected.iter().map(|line| ReadLine::Bytes(line.to_vec())).collect();
        prop_assert_eq!(lines(&text, buffer), expected);
    }
}
