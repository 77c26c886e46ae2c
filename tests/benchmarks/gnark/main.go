// What gnark's Groth16 prover and gnark-crypto's kernels take, for the benchmark beside cuzkweb's.
//
// usage: gnark CURVE prove|kernels LOG RUNS      CURVE: bn254 or bls12-381
//
// prove: a circuit as large as cuzkweb's dense one of 2^LOG rows, not the same file (gnark reads no zkey):
// s[i+1] = (s[i] + k) (s[i] + i), every wire of full width. The key is in memory, and only the proof is timed.
// kernels: sums of 2^LOG points by random scalars in G1 and G2, and a transform of 2^LOG elements.
// One JSON object a line and run: what, curve, log, wall seconds and CPU seconds.
package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/logger"
	"github.com/rs/zerolog"
)

type chain struct {
	Factor, Start frontend.Variable
	Last          frontend.Variable `gnark:",public"`
	steps         int
}

func (c *chain) Define(api frontend.API) error {
	state := c.Start
	for i := 0; i < c.steps; i++ {
		state = api.Mul(api.Add(state, c.Factor), api.Add(state, i))
	}
	api.AssertIsEqual(state, c.Last)
	return nil
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: gnark bn254|bls12-381 prove|kernels LOG RUNS")
		os.Exit(2)
	}
	logger.Set(zerolog.Nop())
	curve := map[string]ecc.ID{"bn254": ecc.BN254, "bls12-381": ecc.BLS12_381}[os.Args[1]]
	log, err := strconv.Atoi(os.Args[3])
	must(err)
	runs, err := strconv.Atoi(os.Args[4])
	must(err)
	switch {
	case os.Args[2] == "prove":
		prove(curve, log, runs)
	case curve == ecc.BN254:
		kernelsBN254(log, runs)
	default:
		kernelsBLS12381(log, runs)
	}
}

func prove(curve ecc.ID, log, runs int) {
	steps := 1<<log - 8
	system, err := frontend.Compile(curve.ScalarField(), r1cs.NewBuilder, &chain{steps: steps})
	must(err)
	key, check, err := groth16.Setup(system)
	must(err)
	field := curve.ScalarField()
	factor, _ := new(big.Int).SetString("123456789012345678901234567890123456789012345678901234567890", 10)
	start, _ := new(big.Int).SetString("98765432109876543210987654321098765432109876543210987654321", 10)
	state := new(big.Int).Set(start)
	for i := 0; i < steps; i++ {
		left := new(big.Int).Add(state, factor)
		right := new(big.Int).Add(state, big.NewInt(int64(i)))
		state.Mul(left, right).Mod(state, field)
	}
	full, err := frontend.NewWitness(&chain{Factor: factor, Start: start, Last: state}, field)
	must(err)
	public, err := full.Public()
	must(err)
	for run := 0; run < runs; run++ {
		var proof groth16.Proof
		report("prove", curve.String(), log, func() {
			proof, err = groth16.Prove(system, key, full)
			must(err)
		})
		must(groth16.Verify(proof, check, public))
	}
}

func report(what, curve string, log int, work func()) {
	before, started := cpuSeconds(), time.Now()
	work()
	wall := time.Since(started).Seconds()
	line, err := json.Marshal(map[string]any{
		"what": what, "curve": curve, "log": log, "wall": wall, "cpu": cpuSeconds() - before,
	})
	must(err)
	fmt.Println(string(line))
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
