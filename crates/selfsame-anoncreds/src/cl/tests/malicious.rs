//! What an issuer that can take discrete logarithms, since its primes were chosen for it, learns from a request and
//! from a predicate. And a holder whose request is made to learn about the issuer's key.

use std::collections::{BTreeSet, HashMap};

use dashu_int::ops::{BitTest as _, DivEuclid as _};
use dashu_int::{IBig, UBig};
use selfsame_bignum::{Base, Modulus, Random, Term};

use super::parties::{CredentialDefinition, random, read};
use super::presenting::{nonce, predicate};
use super::*;
use crate::seed::PRIMES;

/// Primes just below 2^18, from which p - 1 and q - 1 are built.
fn small_primes() -> Vec<u32> {
    let odd = (240_001..1_u32 << 18).step_by(2);
    odd.filter(|number| PRIMES.is_prime(&UBig::from(*number)))
        .collect()
}

/// A prime 2·∏l + 1 of 1,024 bits and its 57 different l, which are taken from `from`.
fn smooth_prime(from: &mut Vec<u32>, random: &mut Random) -> (UBig, Vec<u32>) {
    loop {
        let mut rest = from.clone();
        let mut pick = || {
            let place = random.below(&UBig::from(rest.len()));
            rest.swap_remove(usize::try_from(place).unwrap())
        };
        let some: Vec<u32> = (0..57).map(|_| pick()).collect();
        let prime = product(&some) * 2_u8 + UBig::ONE;
        if prime.bit_len() == 1_024 && PRIMES.is_prime(&prime) {
            *from = rest;
            return (prime, some);
        }
    }
}

fn product(numbers: &[u32]) -> UBig {
    numbers.iter().fold(UBig::ONE, |product, l| product * *l)
}

/// An issuer whose key is honest except for its primes.
struct Malicious {
    key: CredentialKey,
    factors: [(Modulus, Vec<u32>); 2],
    /// The number of powers of S.
    order: UBig,
}

impl Malicious {
    fn new() -> Self {
        let mut random = random("a malicious issuer");
        let mut from = small_primes();
        let [p, q] = [(); 2].map(|()| smooth_prime(&mut from, &mut random));
        let primes = SafePrimes {
            p: p.0.clone(),
            q: q.0.clone(),
        };
        let attributes: BTreeSet<String> = ["age".to_owned()].into();
        let made = generate(&attributes, &primes, &mut random).unwrap();
        let key = CredentialKey::new(&made.public).unwrap();
        // None of the issuer's proofs about its key reveals it.
        key.check_correctness(&made.proof).unwrap();
        Self {
            key,
            order: product(&p.1) * product(&q.1),
            factors: [p, q].map(|(p, smooth)| (Modulus::new(&p).unwrap(), smooth)),
        }
    }

    /// The exponent of a power of S (Pohlig and Hellman).
    fn logarithm(&self, of: &UBig) -> UBig {
        let mut sum = UBig::ZERO;
        for (modulus, smooth) in &self.factors {
            let half = product(smooth);
            for l in smooth {
                let exponent = IBig::from(&half / *l);
                let part = |number: &UBig| {
                    let base = modulus.element(&(number % modulus.value())).unwrap();
                    power(modulus, &base, &exponent)
                };
                let digit = within(modulus.value(), [part(&self.key.public().s), part(of)], *l);
                let others = &self.order / *l;
                let inverse = small_power(&others % *l, *l - 2, *l);
                sum += others * (u64::from(inverse) * u64::from(digit) % u64::from(*l));
            }
        }
        sum % &self.order
    }

    /// The number x below 2^bits with `power` = S^secret · base^x, from the response mask + c·secret, if the mask has
    /// `mask_bits` bits. The response reveals the high bits of the secret, and two unknown numbers that are small
    /// enough are found by reducing a lattice of dimension two.
    fn hidden(
        &self,
        (power, base, bits): (&UBig, &UBig, usize),
        (response, c, mask_bits): (&UBig, &UBig, usize),
    ) -> Option<IBig> {
        let high =
            (IBig::from(response.clone()) - (IBig::ONE << mask_bits)) / IBig::from(c.clone());
        let target = IBig::from(self.logarithm(power)) - high;
        let order = IBig::from(self.order.clone());
        let factor = IBig::from(self.logarithm(base));
        // Scales both unknown numbers to equal weight.
        let scale = IBig::ONE << (mask_bits - 250 - bits);
        let basis = reduced([[order, IBig::ZERO], [-factor, scale.clone()]]);
        let [[a, b], [c, d]] = &basis;
        let determinant = a * d - b * c;
        let first = rounded(&target * d, &determinant);
        let second = rounded(-(&target * b), &determinant);
        let found = -(first * b + second * d) / scale;
        (found >= IBig::ZERO && found.bit_len() <= bits).then_some(found)
    }
}

fn power(modulus: &Modulus, base: &selfsame_bignum::Element, exponent: &IBig) -> UBig {
    let base = Base::Variable(base);
    modulus.integer(&modulus.power(&[Term { base, exponent }]).unwrap())
}

/// The d below `l` with g^d = h modulo p, for a g of order l (baby steps, giant steps).
fn within(p: &UBig, [g, h]: [UBig; 2], l: u32) -> u32 {
    assert!(!g.is_one(), "S has the full order");
    let mut steps = HashMap::new();
    let mut small = UBig::ONE;
    for step in 0..512_u32 {
        steps.insert(small.to_be_bytes(), step);
        small = small * &g % p;
    }
    // g^-512 = g^(l - 512).
    let back = (0..l - 512).fold(
        (UBig::ONE, g, l - 512),
        |(done, square, rest), _| match rest {
            0 => (done, square, 0),
            _ if rest % 2 == 1 => (done * &square % p, &square * &square % p, rest / 2),
            _ => (done, &square * &square % p, rest / 2),
        },
    );
    let mut giant = h;
    for step in 0..=l / 512 {
        if let Some(found) = steps.get(&giant.to_be_bytes()) {
            return (step * 512 + found) % l;
        }
        giant = giant * &back.0 % p;
    }
    panic!("it is no power of S");
}

fn small_power(base: u32, exponent: u32, modulus: u32) -> u32 {
    let (mut power, modulus) = (1_u64, u64::from(modulus));
    for bit in (0..32).rev() {
        power = power * power % modulus;
        if exponent >> bit & 1 == 1 {
            power = power * u64::from(base) % modulus;
        }
    }
    u32::try_from(power).unwrap()
}

/// The nearest integer to a/b.
fn rounded(a: IBig, b: &IBig) -> IBig {
    let (a, b) = if *b < IBig::ZERO {
        (-a, -b)
    } else {
        (a, b.clone())
    };
    let two = IBig::from(2);
    (a * &two + &b).div_euclid(&b * two)
}

/// The shortest basis of a lattice of dimension two (Gauss).
fn reduced([mut a, mut b]: [[IBig; 2]; 2]) -> [[IBig; 2]; 2] {
    let dot = |a: &[IBig; 2], b: &[IBig; 2]| &a[0] * &b[0] + &a[1] * &b[1];
    loop {
        if dot(&a, &a) > dot(&b, &b) {
            std::mem::swap(&mut a, &mut b);
        }
        let times = rounded(dot(&a, &b), &dot(&a, &a));
        if times.is_zero() {
            return [a, b];
        }
        b = [&b[0] - &times * &a[0], &b[1] - &times * &a[1]];
    }
}

/// S^secret · base^x, and the response for the secret with a mask of `mask_bits` bits.
fn as_with_mask(of: &Malicious, (base, x): (&UBig, &UBig), mask_bits: usize) -> (UBig, UBig, UBig) {
    let mut random = random("a short mask");
    let modulus = of.key.modulus();
    let secret = random.integer(bounds::V_PRIME);
    let [s, base] = [&of.key.public().s, base].map(|base| modulus.element(base).unwrap());
    let power = power(modulus, &s, &secret.clone().into());
    let other = self::power(modulus, &base, &x.clone().into());
    let power = power * other % modulus.value();
    let c = challenge::over([&power]);
    let response = random.integer(mask_bits) + &c * secret;
    (power, response, c)
}

#[test]
fn an_issuer_that_takes_logarithms_does_not_read_the_link_secret_in_a_request() {
    let issuer = Malicious::new();
    let public = issuer.key.public();
    let base = &public.r[LINK_SECRET];
    let secret = random("link secret").integer(256);

    // With a mask of 673 bits it would be found, so the calculation is correct.
    let (u, response, c) = as_with_mask(&issuer, (base, &secret), 673);
    let read = issuer.hidden((&u, base, 256), (&response, &c, 673));
    assert_eq!(read, Some(IBig::from(secret.clone())));

    let link_secret = LinkSecret::from_decimal(&secret.to_string()).unwrap();
    let mut random = random("request");
    let made = blind(
        &issuer.key,
        &link_secret,
        &nonce("offer"),
        None,
        &mut random,
    )
    .unwrap();
    let (response, c) = (&made.proof.v_dash_cap, &made.proof.c);
    let read = issuer.hidden(
        (&made.secrets.u, base, 256),
        (response, c, bounds::V_PRIME_MASK),
    );
    assert_ne!(read, Some(IBig::from(secret.clone())));
    let read = issuer.hidden((&made.secrets.u, base, 256), (response, c, 673));
    assert_ne!(read, Some(IBig::from(secret)));
}

#[test]
fn an_issuer_that_takes_logarithms_does_not_read_the_hidden_value_of_a_predicate() {
    let issuer = Malicious::new();
    let base = &issuer.key.public().z;
    let difference = UBig::from(16_u8);

    let (t, response, c) = as_with_mask(&issuer, (base, &difference), 672);
    let read = issuer.hidden((&t, base, 32), (&response, &c, 672));
    assert_eq!(read, Some(IBig::from(16)));

    let asked = predicate("age", PredicateType::AtLeast, 18);
    let mut random = random("predicate");
    let mask = random.secret(bounds::VALUE_MASK);
    let (key, claimed) = (issuer.key.in_use(), IBig::from(34));
    let made =
        predicate::PredicateCommitment::new(key, &asked, &claimed, &mask, &mut random).unwrap();
    let t = made.c_values()[4].clone();
    let c = random.integer(256);
    let response = made.respond(UBig::ZERO, &c).r.delta;
    for mask_bits in [bounds::BLINDING_MASK, 672] {
        let read = issuer.hidden((&t, base, 32), (&response, &c, mask_bits));
        assert_ne!(read, Some(IBig::from(16)), "{mask_bits}");
    }
}

/// The proof of a request also holds for -U if its challenge is even.
#[test]
fn a_blinded_link_secret_that_is_no_square_is_not_signed() {
    let definition = CredentialDefinition::sample("qualified");
    let key = definition.key();
    let private = read(&definition.private).unwrap();
    let issuer = IssuerKey::new(&key, &private).unwrap();
    let (modulus, public) = (key.modulus(), key.public());
    let bases = [&public.s, &public.r[LINK_SECRET]].map(|base| modulus.element(base).unwrap());
    let blinded = |v: &UBig, m: &UBig| {
        let [s, r] = [(&bases[0], v), (&bases[1], m)]
            .map(|(base, exponent)| power(modulus, base, &exponent.clone().into()));
        s * r % modulus.value()
    };
    let sign = |u: UBig, (v, m): (&UBig, &UBig), random: &mut Random| {
        let (v_mask, m_mask) = (random.integer(bounds::V_PRIME_MASK), random.integer(592));
        let c = challenge::over([&u, &blinded(&v_mask, &m_mask), &nonce("offer").0]);
        let proof = BlindedSecretsCorrectnessProof {
            v_dash_cap: v_mask + &c * v,
            m_caps: [(LINK_SECRET.to_owned(), m_mask + &c * m)].into(),
            r_caps: Default::default(),
            c,
        };
        let secrets = BlindedCredentialSecrets {
            u,
            ur: None,
            hidden_attributes: [LINK_SECRET.to_owned()].into(),
            committed_attributes: Default::default(),
        };
        let values = ["city", "points"].map(|name| (name.to_owned(), IBig::ONE));
        let request = SigningRequest {
            secrets: &secrets,
            proof: &proof,
            offer_nonce: &nonce("offer"),
            request_nonce: &nonce("request"),
            context: &UBig::ONE,
            values: &values.into(),
        };
        sign(&issuer, &request, random).map(|_| ())
    };
    let mut random = random("no square");
    let (v, m) = (random.integer(bounds::V_PRIME), random.integer(256));
    let u = blinded(&v, &m);
    assert_eq!(sign(u.clone(), (&v, &m), &mut random), Ok(()));
    let refused: Vec<String> = (0..12)
        .map(|_| {
            sign(&public.n - &u, (&v, &m), &mut random)
                .unwrap_err()
                .to_string()
        })
        .collect();
    assert!(
        refused.iter().any(|why| why.contains("no square")),
        "{refused:?}"
    );
}
