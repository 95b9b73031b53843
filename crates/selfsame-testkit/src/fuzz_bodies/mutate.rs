//! Inputs close to valid ones: a seed changed in a few places, or two seeds crossed.

use serde_json::{Value, json};

/// Fragments that often break parsers.
const FRAGMENTS: [&[u8]; 32] = [
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"-1",
    b"1e999",
    b"0.5",
    b"18446744073709551616",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xc3\xa9",
    b"~",
    b".",
    b"..",
    b"=",
    b"#",
    b"?",
    b"/",
    b":",
    b"%00",
    b"%2F",
    b"did:",
    b"none",
    b"HS256",
    b"\"_sd\":",
    b"\"...\":",
    b"\"crit\":[\"b64\"],",
    b"\0",
];

/// A stream of inputs made from seeds; equal numbers give equal streams.
#[derive(Debug)]
pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl Mutator {
    /// Creates a stream of inputs close to the seeds; `number` selects the stream.
    pub fn new(seeds: Vec<Vec<u8>>, number: u64) -> Self {
        Self {
            seeds,
            state: number,
        }
    }

    /// The next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.seed();
        for _ in 0..self.below(6) {
            self.change(&mut input);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(16)).min(input.len());
        match self.below(9) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << (self.next_number() % 8);
                }
            }
            1 => {
                input.drain(at..end);
            }
            2 => {
                let again = input[at..end].to_vec();
                input.splice(end..end, again);
            }
            3 => input.truncate(at),
            4 => {
                let other = self.seed();
                let from = self.below(other.len() + 1);
                input.splice(at.., other[from..].iter().copied());
            }
            5 => self.swap_pieces(input),
            6 => self.change_value(input),
            _ => {
                let fragment = FRAGMENTS[self.below(FRAGMENTS.len())];
                let end = if self.below(2) == 0 { at } else { end };
                input.splice(at..end, fragment.iter().copied());
            }
        }
    }

    /// Copies a piece between two delimiters over another such piece: the input stays well formed, but is wrong.
    fn swap_pieces(&mut self, input: &mut Vec<u8>) {
        let delimiters: Vec<usize> = input
            .iter()
            .enumerate()
            .filter(|(_, byte)| b",:[]{}.~/?#\0".contains(byte))
            .map(|(at, _)| at)
            .collect();
        if delimiters.len() < 4 {
            return;
        }
        let from = self.below(delimiters.len() - 1);
        let to = self.below(delimiters.len() - 1);
        let piece = input[delimiters[from] + 1..delimiters[from + 1]].to_vec();
        input.splice(delimiters[to] + 1..delimiters[to + 1], piece);
    }

    /// If a part of the input is JSON, replaces one of its values: well formed, but with a wrong type.
    fn change_value(&mut self, input: &mut Vec<u8>) {
        let mut parts: Vec<Vec<u8>> = input.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        let number = self.below(parts.len());
        let Some(part) = parts.get_mut(number) else {
            return;
        };
        let Ok(mut root) = serde_json::from_slice::<Value>(part) else {
            return;
        };
        let mut pointers = Vec::new();
        list_pointers(&root, String::new(), &mut pointers);
        let other = pointers[self.below(pointers.len())].clone();
        let values = [
            root.pointer(&other).cloned().unwrap_or_default(),
            Value::Null,
            json!(true),
            json!(-1),
            json!(0.5),
            json!(u64::MAX),
            json!(""),
            json!([]),
            json!({}),
            json!(["a", null, 0]),
            json!("https://issuer.example/status"),
        ];
        let value = values[self.below(values.len())].clone();
        let at = pointers[self.below(pointers.len())].clone();
        if let Some(place) = root.pointer_mut(&at) {
            *place = value;
        }
        *part = root.to_string().into_bytes();
        *input = parts.join(&0);
    }

    fn seed(&mut self) -> Vec<u8> {
        let number = self.below(self.seeds.len());
        self.seeds.get(number).cloned().unwrap_or_default()
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a length fits 64 bits");
        usize::try_from(self.next_number() % bound).expect("it is less than a length")
    }

    /// SplitMix64.
    fn next_number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn list_pointers(value: &Value, at: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                list_pointers(value, format!("{at}/{name}"), pointers);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                list_pointers(value, format!("{at}/{index}"), pointers);
            }
        }
        _ => {}
    }
    pointers.push(at);
}
