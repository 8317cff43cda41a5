package indextest

import (
	"math"
	"math/rand/v2"
)

// A Shape is how generated vectors are distributed.
type Shape string

// The shapes that indexes are measured on.
const (
	// Uniform: every direction is equally likely. It is the hardest shape: there is no structure,
	// and the nearest vector is hardly nearer than the others.
	Uniform Shape = "uniform"
	// Clustered: around 100 random centres, at a distance that makes the cosine to the centre about
	// 0.75.
	Clustered Shape = "clustered"
	// LowRank: random mixtures of 24 random directions.
	LowRank Shape = "low-rank"
)

// Shapes returns all shapes.
func Shapes() []Shape { return []Shape{Clustered, LowRank, Uniform} }

// Vectors returns n unit vectors of dim elements: rows of an index, or queries with the same
// distribution. What is fixed for a shape (the centres, the directions) depends on seed, the
// vectors on seed and part: 0 for rows, 1 for queries.
func Vectors(shape Shape, n, dim int, seed, part uint64) [][]float32 {
	fixed := rand.New(rand.NewPCG(seed, 1<<32))
	r := rand.New(rand.NewPCG(seed, part))
	gauss := func(r *rand.Rand, size int) []float64 {
		v := make([]float64, size)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	var base [][]float64
	for range map[Shape]int{Clustered: 100, LowRank: 24}[shape] {
		base = append(base, gauss(fixed, dim))
	}
	out := make([][]float32, n)
	for i := range out {
		var v []float64
		switch shape {
		case Clustered:
			v = gauss(r, dim)
			for j, c := range base[r.IntN(len(base))] {
				v[j] = c + float64(0.9*v[j])
			}
		case LowRank:
			v = make([]float64, dim)
			for _, direction := range base {
				weight := r.NormFloat64()
				for j, x := range direction {
					v[j] += float64(weight * x)
				}
			}
		default:
			v = gauss(r, dim)
		}
		out[i] = Unit(v)
	}
	return out
}

// Unit returns a vector divided by its length.
func Unit(v []float64) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x * x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(sum))
	}
	return out
}
