//! The JSON form of integers: strings of decimal digits, parsed strictly, and maps of them without repeated names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;

use dashu_int::{IBig, Sign, UBig};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, SerializeSeq as _, Serializer};

/// The most digits of any number: the longest in a message, v̂, has 922. Each number also has its own limit.
const MAX_DIGITS: usize = 1_400;

/// Entries of a map of attributes: AnonCreds allows 125 attributes and one link secret.
pub(crate) const MAX_ATTRIBUTES: usize = 126;

/// Bytes of the longest name of an attribute.
const MAX_NAME: usize = 1_024;

/// An integer that has a decimal form.
pub(crate) trait Decimal: Sized {
    /// Parses the digits; `None` if they are not in canonical form.
    fn parse(digits: &str) -> Option<Self>;
    /// The number's digits.
    fn digits(&self) -> String;
}

impl Decimal for UBig {
    fn parse(digits: &str) -> Option<Self> {
        is_canonical(digits)
            .then(|| Self::from_str_radix(digits, 10).ok())
            .flatten()
    }

    fn digits(&self) -> String {
        self.to_string()
    }
}

impl Decimal for IBig {
    fn parse(digits: &str) -> Option<Self> {
        match digits.strip_prefix('-') {
            Some("0") => None,
            Some(magnitude) => {
                UBig::parse(magnitude).map(|magnitude| Self::from_parts(Sign::Negative, magnitude))
            }
            None => UBig::parse(digits).map(Self::from),
        }
    }

    fn digits(&self) -> String {
        self.to_string()
    }
}

/// Whether a text has digits only, no leading zero and not too many digits, so that each number has one form.
fn is_canonical(digits: &str) -> bool {
    !digits.is_empty()
        && digits.len() <= MAX_DIGITS
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
}

pub(crate) fn serialize<T: Decimal, S: Serializer>(
    number: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&number.digits())
}

pub(crate) fn deserialize<'de, T: Decimal, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    DecimalRead::deserialize(deserializer).map(|read| read.0)
}

/// A wrapper to deserialize numbers inside maps and lists.
struct DecimalRead<T>(T);

impl<'de, T: Decimal> Deserialize<'de> for DecimalRead<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Number(PhantomData))
    }
}

struct Number<T>(PhantomData<T>);

impl<T: Decimal> Visitor<'_> for Number<T> {
    type Value = DecimalRead<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal number in a string, without zeros ahead")
    }

    fn visit_str<E: de::Error>(self, digits: &str) -> Result<Self::Value, E> {
        T::parse(digits)
            .map(DecimalRead)
            .ok_or_else(|| E::custom("not a decimal number in its shortest form"))
    }
}

/// Refuses a name that is too long.
fn checked_name<E: de::Error>(name: String) -> Result<String, E> {
    if name.len() > MAX_NAME {
        return Err(E::custom("the name of an attribute is too long"));
    }
    Ok(name)
}

/// Maps from names to numbers.
pub(crate) mod map {
    use super::*;

    pub(crate) fn serialize<T: Decimal, S: Serializer>(
        numbers: &BTreeMap<String, T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(numbers.len()))?;
        for (name, number) in numbers {
            map.serialize_entry(name, &number.digits())?;
        }
        map.end()
    }

    pub(crate) fn deserialize<'de, T: Decimal, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, T>, D::Error> {
        deserializer.deserialize_map(Names(PhantomData))
    }

    struct Names<T>(PhantomData<T>);

    impl<'de, T: Decimal> Visitor<'de> for Names<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map from names to decimal numbers")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut numbers = BTreeMap::new();
            while let Some((name, number)) = entries.next_entry::<String, DecimalRead<T>>()? {
                if numbers.len() >= MAX_ATTRIBUTES {
                    return Err(de::Error::custom("too many attributes"));
                }
                if numbers.insert(checked_name(name)?, number.0).is_some() {
                    return Err(de::Error::custom("a name is repeated"));
                }
            }
            Ok(numbers)
        }
    }
}

/// Lists of pairs of a name and a number, in significant order.
pub(crate) mod pairs {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        pairs: &[(String, UBig)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(pairs.len()))?;
        for (name, number) in pairs {
            list.serialize_element(&(name, number.digits()))?;
        }
        list.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, UBig)>, D::Error> {
        deserializer.deserialize_seq(Pairs)
    }

    struct Pairs;

    impl<'de> Visitor<'de> for Pairs {
        type Value = Vec<(String, UBig)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of pairs of a name and a decimal number")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut names = BTreeSet::new();
            let mut pairs = Vec::new();
            while let Some((name, number)) = items.next_element::<(String, DecimalRead<UBig>)>()? {
                if pairs.len() >= MAX_ATTRIBUTES {
                    return Err(de::Error::custom("too many attributes"));
                }
                let name = checked_name(name)?;
                if !names.insert(name.clone()) {
                    return Err(de::Error::custom("a name is repeated"));
                }
                pairs.push((name, number.0));
            }
            Ok(pairs)
        }
    }
}

/// Sets of names.
pub(crate) mod names {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        names: &BTreeSet<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(names)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeSet<String>, D::Error> {
        deserializer.deserialize_seq(Names)
    }

    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = BTreeSet<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of different names")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut names = BTreeSet::new();
            while let Some(name) = items.next_element::<String>()? {
                if names.len() >= MAX_ATTRIBUTES {
                    return Err(de::Error::custom("too many attributes"));
                }
                if !names.insert(checked_name(name)?) {
                    return Err(de::Error::custom("a name is repeated"));
                }
            }
            Ok(names)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_form() {
        for digits in ["0", "7", "10", "123456789012345678901234567890"] {
            assert_eq!(UBig::parse(digits).unwrap().digits(), digits);
            assert_eq!(IBig::parse(digits).unwrap().digits(), digits);
        }
        for digits in ["", "00", "07", "+7", " 7", "7 ", "0x7", "7a", "1_000", "٣"] {
            assert_eq!(UBig::parse(digits), None, "{digits}");
            assert_eq!(IBig::parse(digits), None, "{digits}");
        }
        assert_eq!(IBig::parse("-175").unwrap().digits(), "-175");
        for digits in ["-0", "-07", "--7", "-"] {
            assert_eq!(IBig::parse(digits), None, "{digits}");
        }
        assert_eq!(UBig::parse("-1"), None);
        assert_eq!(UBig::parse(&"1".repeat(MAX_DIGITS + 1)), None);
    }
}
