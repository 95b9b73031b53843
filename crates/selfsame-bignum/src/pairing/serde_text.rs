//! Scalars and group elements in serde: their text, as a string.

use std::marker::PhantomData;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Error, G1, G2, G2OrIdentity, Gt, Scalar};

/// A type that is a string in JSON.
trait Text: Sized {
    fn write(&self) -> String;
    fn read(text: &str) -> Result<Self, Error>;
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: Text> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("hexadecimal numbers in a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::read(text).map_err(E::custom)
    }
}

macro_rules! text_in_serde {
    ($($name:ty, $write:expr, $read:expr;)*) => {$(
        impl Text for $name {
            fn write(&self) -> String {
                $write(self)
            }
            fn read(text: &str) -> Result<Self, Error> {
                $read(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&Text::write(self))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextVisitor(PhantomData))
            }
        }
    )*};
}

text_in_serde! {
    G1, |point: &G1| point.to_text(), G1::from_text;
    G2, |point: &G2| point.to_text(), G2::from_text;
    G2OrIdentity, |point: &G2OrIdentity| point.0.to_text(),
        |text| G2::from_text_or_identity(text).map(G2OrIdentity);
    Gt, |element: &Gt| element.to_text(), Gt::from_text;
    Scalar, Scalar::to_text, Scalar::from_text;
}
