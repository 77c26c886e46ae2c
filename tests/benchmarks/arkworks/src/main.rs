//! What arkworks' Groth16 prover takes, for the benchmark beside cuzkweb's.
//!
//! usage: arkworks-benchmark CURVE prove LOG RUNS      CURVE: bn254 or bls12-381
//!
//! A circuit as large as cuzkweb's dense one of 2^LOG rows, not the same file: s[i+1] = (s[i] + k) (s[i] + i),
//! every wire of full width. The key is in memory, and only the proof is timed.
//! One JSON object a line and run: what, curve, log, wall seconds and CPU seconds.

use std::time::Instant;

use ark_ec::pairing::Pairing;
use ark_ff::{Field, PrimeField};
use ark_groth16::Groth16;
use ark_relations::lc;
use ark_relations::r1cs::{ConstraintSynthesizer, ConstraintSystemRef, SynthesisError, Variable};
use ark_snark::SNARK;
use ark_std::rand::{rngs::StdRng, SeedableRng};
use ark_std::UniformRand;

#[derive(Clone)]
struct Chain<F> {
    factor: F,
    start: F,
    steps: usize,
}

impl<F: Field> Chain<F> {
    fn last(&self) -> F {
        (0..self.steps).fold(self.start, |state, i| (state + self.factor) * (state + F::from(i as u64)))
    }
}

impl<F: PrimeField> ConstraintSynthesizer<F> for Chain<F> {
    fn generate_constraints(self, system: ConstraintSystemRef<F>) -> Result<(), SynthesisError> {
        let last = system.new_input_variable(|| Ok(self.last()))?;
        let factor = system.new_witness_variable(|| Ok(self.factor))?;
        let mut value = self.start;
        let mut state = system.new_witness_variable(|| Ok(value))?;
        for i in 0..self.steps {
            let step = F::from(i as u64);
            value = (value + self.factor) * (value + step);
            let next = if i + 1 == self.steps { last } else { system.new_witness_variable(|| Ok(value))? };
            system.enforce_constraint(lc!() + state + factor, lc!() + state + (step, Variable::One), lc!() + next)?;
            state = next;
        }
        Ok(())
    }
}

fn prove<E: Pairing>(curve: &str, log: u32, runs: usize) {
    let mut random = StdRng::seed_from_u64(1);
    let circuit = Chain {
        factor: E::ScalarField::rand(&mut random),
        start: E::ScalarField::rand(&mut random),
        steps: (1 << log) - 8,
    };
    let public = [circuit.last()];
    let (key, check) = Groth16::<E>::circuit_specific_setup(circuit.clone(), &mut random).expect("setup");
    for _ in 0..runs {
        let (before, started) = (cpu_seconds(), Instant::now());
        let proof = Groth16::<E>::prove(&key, circuit.clone(), &mut random).expect("proof");
        let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - before);
        assert!(Groth16::<E>::verify(&check, &public, &proof).expect("verification"));
        println!(r#"{{"what":"prove","curve":"{curve}","log":{log},"wall":{wall},"cpu":{cpu}}}"#);
    }
}

fn cpu_seconds() -> f64 {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) }, 0);
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let sizes = (words.get(3).and_then(|w| w.parse().ok()), words.get(4).and_then(|w| w.parse().ok()));
    match (words.get(1).map(String::as_str), words.get(2).map(String::as_str), sizes) {
        (Some("bn254"), Some("prove"), (Some(log), Some(runs))) => prove::<ark_bn254::Bn254>("bn254", log, runs),
        (Some("bls12-381"), Some("prove"), (Some(log), Some(runs))) => {
            prove::<ark_bls12_381::Bls12_381>("bls12-381", log, runs)
        }
        _ => {
            eprintln!("usage: arkworks-benchmark bn254|bls12-381 prove LOG RUNS");
            std::process::exit(2);
        }
    }
}
