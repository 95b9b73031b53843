//! Which members of AnonCreds' JSON are numbers and points, so that they become bytes in a proof value and texts again.

use std::collections::BTreeMap;

use selfsame_anoncreds::Error;
use serde_json::{Map, Number, Value};

use crate::message_pack::Packed;
use crate::primitive::Primitive;

/// What a value of the JSON is. Any may be missing as `null`.
pub enum Shape {
    /// Itself in both.
    Plain,
    /// A text that is bytes in a proof value.
    Of(Primitive),
    /// An object with these members, all of them or fewer.
    Members(&'static [ShapeMember]),
    /// An object whose members have any names and one shape.
    Each(&'static Shape),
    /// A list.
    List(&'static Shape),
}

/// A member of an object.
pub struct ShapeMember {
    name: &'static str,
    shape: Shape,
}

const fn member(name: &'static str, shape: Shape) -> ShapeMember {
    ShapeMember { name, shape }
}

const NUMBER: Shape = Shape::Of(Primitive::Number);
const SCALAR: Shape = Shape::Of(Primitive::Scalar);
const G1: Shape = Shape::Of(Primitive::G1);
const G2: Shape = Shape::Of(Primitive::G2);
const NUMBERS: Shape = Shape::Each(&NUMBER);

/// The proof value of a credential.
pub const SIGNATURE: Shape = Shape::Members(&[
    member("schema_id", Shape::Plain),
    member("cred_def_id", Shape::Plain),
    member("rev_reg_id", Shape::Plain),
    member("signature", CREDENTIAL_SIGNATURE),
    member("signature_correctness_proof", NUMBERS),
    member("rev_reg", Shape::Each(&G2)),
    member("witness", Shape::Each(&G2)),
]);

const CREDENTIAL_SIGNATURE: Shape = Shape::Members(&[
    member("p_credential", NUMBERS),
    member(
        "r_credential",
        Shape::Members(&[
            member("sigma", G1),
            member("c", SCALAR),
            member("vr_prime_prime", SCALAR),
            member(
                "witness_signature",
                Shape::Members(&[member("sigma_i", G2), member("u_i", G2), member("g_i", G1)]),
            ),
            member("g_i", G1),
            member("i", Shape::Plain),
            member("m2", SCALAR),
        ]),
    ),
]);

/// The proof value of a credential in a presentation.
pub const SHOWN: Shape = Shape::Members(&[
    member("schema_id", Shape::Plain),
    member("cred_def_id", Shape::Plain),
    member("rev_reg_id", Shape::Plain),
    member("timestamp", Shape::Plain),
    member(
        "sub_proof",
        Shape::Members(&[
            member("primary_proof", PRIMARY_PROOF),
            member(
                "non_revoc_proof",
                Shape::Members(&[
                    member("x_list", Shape::Each(&SCALAR)),
                    member("c_list", COMMITMENTS),
                ]),
            ),
        ]),
    ),
]);

const PRIMARY_PROOF: Shape = Shape::Members(&[
    member(
        "eq_proof",
        Shape::Members(&[
            member("revealed_attrs", NUMBERS),
            member("a_prime", NUMBER),
            member("e", NUMBER),
            member("v", NUMBER),
            member("m", NUMBERS),
            member("m2", NUMBER),
        ]),
    ),
    member(
        "ge_proofs",
        Shape::List(&Shape::Members(&[
            member("u", NUMBERS),
            member("r", NUMBERS),
            member("mj", NUMBER),
            member("alpha", NUMBER),
            member("t", NUMBERS),
            member("predicate", Shape::Plain),
        ])),
    ),
]);

const COMMITMENTS: Shape = Shape::Members(&[
    member("e", G1),
    member("d", G1),
    member("a", G1),
    member("g", G1),
    member("w", G2),
    member("s", G2),
    member("u", G2),
]);

/// The proof value of a presentation.
pub const AGGREGATED: Shape = Shape::Members(&[member(
    "aggregated",
    Shape::Members(&[member("c_hash", NUMBER), member("c_list", Shape::Plain)]),
)]);

impl Shape {
    /// The JSON as it is in a proof value.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the JSON is of another shape.
    pub fn pack(&self, value: &Value) -> Result<Packed, Error> {
        match (self, value) {
            (_, Value::Null) => Ok(Packed::Nil),
            (Self::Plain, value) => plain(value),
            (Self::Of(primitive), Value::String(text)) => primitive.pack(text),
            (Self::Members(_) | Self::Each(_), Value::Object(members)) => {
                let mut packed = BTreeMap::new();
                for (name, value) in members {
                    packed.insert(name.clone(), self.of(name)?.pack(value)?);
                }
                Ok(Packed::Map(packed))
            }
            (Self::List(shape), Value::Array(items)) => {
                let items = items.iter().map(|item| shape.pack(item));
                Ok(Packed::List(items.collect::<Result<_, _>>()?))
            }
            _ => Err(OTHER),
        }
    }

    /// The JSON of what is in a proof value.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is of another shape.
    pub fn unpack(&self, packed: &Packed) -> Result<Value, Error> {
        match (self, packed) {
            (_, Packed::Nil) => Ok(Value::Null),
            (Self::Plain, packed) => unpacked(packed),
            (Self::Of(primitive), packed) => primitive.unpack(packed),
            (Self::Members(_) | Self::Each(_), Packed::Map(members)) => {
                let mut value = Map::new();
                for (name, packed) in members {
                    value.insert(name.clone(), self.of(name)?.unpack(packed)?);
                }
                Ok(Value::Object(value))
            }
            (Self::List(shape), Packed::List(items)) => {
                let items = items.iter().map(|item| shape.unpack(item));
                Ok(Value::Array(items.collect::<Result<_, _>>()?))
            }
            // A list without elements is one of bytes too.
            (Self::List(_), Packed::Bytes(bytes)) if bytes.is_empty() => Ok(Value::Array(vec![])),
            _ => Err(OTHER),
        }
    }

    /// The shape of a member.
    fn of(&self, name: &str) -> Result<&Self, Error> {
        match self {
            Self::Each(shape) => Ok(shape),
            Self::Members(members) => {
                let mut members = members.iter();
                let found = members.find(|member| member.name == name);
                found.map(|member| &member.shape).ok_or(OTHER)
            }
            _ => Err(OTHER),
        }
    }
}

const OTHER: Error = Error::Malformed {
    what: "the proof value",
    why: "a member is unknown or of another kind",
};

fn plain(value: &Value) -> Result<Packed, Error> {
    match value {
        Value::Null => Ok(Packed::Nil),
        Value::Bool(value) => Ok(Packed::Bool(*value)),
        Value::Number(number) => number.as_i64().map(Packed::Integer).ok_or(OTHER),
        Value::String(text) => Ok(Packed::Text(text.clone())),
        Value::Array(items) => {
            let items = items.iter().map(plain);
            Ok(Packed::List(items.collect::<Result<_, _>>()?))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| Ok((name.clone(), plain(value)?)));
            Ok(Packed::Map(members.collect::<Result<_, Error>>()?))
        }
    }
}

fn unpacked(packed: &Packed) -> Result<Value, Error> {
    Ok(match packed {
        Packed::Nil => Value::Null,
        Packed::Bool(value) => Value::Bool(*value),
        Packed::Integer(number) => Value::Number(Number::from(*number)),
        Packed::Text(text) => Value::from(text.as_str()),
        Packed::Bytes(bytes) => bytes.iter().map(|byte| Value::from(*byte)).collect(),
        Packed::List(items) => {
            let items = items.iter().map(unpacked);
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Packed::Map(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| Ok((name.clone(), unpacked(value)?)));
            Value::Object(members.collect::<Result<_, Error>>()?)
        }
    })
}
