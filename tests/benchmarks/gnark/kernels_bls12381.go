package main

import (
	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
)

func kernelsBLS12381(log, runs int) {
	scalars := make([]fr.Element, 1<<log)
	for i := range scalars {
		scalars[i].MustSetRandom()
	}
	_, _, base1, base2 := curve.Generators()
	points1 := curve.BatchScalarMultiplicationG1(&base1, scalars)
	points2 := curve.BatchScalarMultiplicationG2(&base2, scalars)
	domain := fft.NewDomain(1 << log)
	for run := 0; run < runs; run++ {
		report("msm_g1", "bls12_381", log, func() {
			_, err := new(curve.G1Jac).MultiExp(points1, scalars, ecc.MultiExpConfig{})
			must(err)
		})
		report("msm_g2", "bls12_381", log, func() {
			_, err := new(curve.G2Jac).MultiExp(points2, scalars, ecc.MultiExpConfig{})
			must(err)
		})
		values := append([]fr.Element(nil), scalars...)
		report("ntt", "bls12_381", log, func() { domain.FFT(values, fft.DIF) })
	}
}
