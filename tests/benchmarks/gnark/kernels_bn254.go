package main

import (
	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
)

func kernelsBN254(log, runs int) {
	scalars := make([]fr.Element, 1<<log)
	for i := range scalars {
		scalars[i].MustSetRandom()
	}
	_, _, base1, base2 := curve.Generators()
	points1 := curve.BatchScalarMultiplicationG1(&base1, scalars)
	points2 := curve.BatchScalarMultiplicationG2(&base2, scalars)
	domain := fft.NewDomain(1 << log)
	for run := 0; run < runs; run++ {
		report("msm_g1", "bn254", log, func() {
			_, err := new(curve.G1Jac).MultiExp(points1, scalars, ecc.MultiExpConfig{})
			must(err)
		})
		report("msm_g2", "bn254", log, func() {
			_, err := new(curve.G2Jac).MultiExp(points2, scalars, ecc.MultiExpConfig{})
			must(err)
		})
		values := append([]fr.Element(nil), scalars...)
		report("ntt", "bn254", log, func() { domain.FFT(values, fft.DIF) })
	}
}
