package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// blocksOf returns one block for codes of a stride, filled by next.
func blocksOf(stride int, next func() int8, scale func() float32) []Block {
	codes, scales := make([]int8, BlockRows*stride), make([]float32, BlockRows)
	for i := range codes {
		codes[i] = next()
	}
	for i := range scales {
		scales[i] = scale()
	}
	return []Block{{Codes: &codes[0], Scales: &scales[0]}}
}

func sameScores(t *testing.T, query []int8, blocks []Block, rows []uint32) {
	t.Helper()
	want := make([]float32, len(rows))
	Generic().Scores(query, blocks, rows, want)
	for _, set := range All() {
		got := make([]float32, len(rows)+1)
		got[len(rows)] = 42
		set.Scores(query, blocks, rows, got)
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%s: row %d of %d, stride %d: %v, want %v", set.Name(), i, len(rows), len(query), got[i], want[i])
			}
		}
		if got[len(rows)] != 42 {
			t.Fatalf("%s writes behind the rows", set.Name())
		}
	}
}

// TestScoresAreSums compares plain Go with the definition, and the other implementations with plain
// Go, for extreme and random values.
func TestScoresAreSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, stride := range []int{64, 128, 320, 384, 448, 1024} {
		for name, next := range map[string]func() int8{
			"random":  func() int8 { return int8(r.Uint32()) },
			"lowest":  func() int8 { return -128 },
			"highest": func() int8 { return 127 },
			"zero":    func() int8 { return 0 },
		} {
			blocks := append(blocksOf(stride, next, r.Float32), blocksOf(stride, next, r.Float32)...)
			for _, fill := range []func() int8{next, func() int8 { return -128 }, func() int8 { return 127 }} {
				query := make([]int8, stride)
				for i := range query {
					query[i] = fill()
				}
				for _, n := range []int{0, 1, 2, 7, 8, 9, 33, 256} {
					rows := make([]uint32, n)
					for i := range rows {
						rows[i] = r.Uint32N(2 * BlockRows)
					}
					sameScores(t, query, blocks, rows)
				}
				if name != "lowest" {
					continue
				}
				var sum int64
				for _, q := range query {
					sum += int64(q) * -128
				}
				var out [1]float32
				Generic().Scores(query, blocks, []uint32{BlockRows + 5}, out[:])
				if want := float32(sum) * *scaleAt(blocks[1], 5); out[0] != want {
					t.Errorf("stride %d: %v, want %v", stride, out[0], want)
				}
			}
		}
	}
}

func FuzzScores(f *testing.F) {
	f.Add([]byte{0x80, 0x7f, 0}, []byte{0x80, 1}, uint8(3))
	f.Add([]byte{0x80}, []byte{0x80}, uint8(6))
	f.Fuzz(func(t *testing.T, query, codes []byte, strides uint8) {
		if len(query) == 0 || len(codes) == 0 {
			return
		}
		stride := (int(strides)%16 + 1) * Align
		q := make([]int8, stride)
		for i := range q {
			q[i] = int8(query[i%len(query)])
		}
		i := -1
		blocks := blocksOf(stride, func() int8 { i++; return int8(codes[i%len(codes)]) },
			func() float32 { return 1 + float32(i%7) })
		sameScores(t, q, blocks, []uint32{0, 1, 5, 1023, 9, 9, 10, 11, 12, 13, 14, 15, 700})
	})
}

func TestDotOrder(t *testing.T) {
	// 1 and 2^-24 in one lane: the small values are lost if they come after the 1, unlike those of
	// another lane, which are summed first.
	a, b := make([]float32, 96), make([]float32, 96)
	for i := range b {
		b[i] = 1
	}
	a[0], a[32], a[64] = 1, 1.0/(1<<24), 1.0/(1<<24)
	a[1], a[33] = 1.0/(1<<24), 1.0/(1<<24)
	for _, set := range All() {
		if got, want := set.Dot(a, b), float32(1+1.0/(1<<23)); got != want {
			t.Errorf("%s: %v, want %v", set.Name(), got, want)
		}
	}
}

func FuzzDot(f *testing.F) {
	f.Add(make([]byte, 4*384), uint8(0))
	f.Add([]byte("\x00\x00\x80\x3f\xff\xff\x7f\x3f\x01\x00\x00\x00"), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, pad uint8) {
		n := len(data)/4 + int(pad)
		a, b := make([]float32, n), make([]float32, n)
		for i := range len(data) / 4 {
			x := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				x = 1 // never in an index
			}
			a[i], b[n-1-i] = x, x
		}
		want := Generic().Dot(a, b)
		for _, set := range All() {
			if got := set.Dot(a, b); got != want && !(math.IsNaN(float64(got)) && math.IsNaN(float64(want))) {
				t.Errorf("%s: %v, want %v, of %d elements", set.Name(), got, want, n)
			}
		}
	})
}

func BenchmarkScores(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	blocks := blocksOf(384, func() int8 { return int8(r.Uint32()) }, r.Float32)
	query := make([]int8, 384)
	for _, set := range All() {
		for _, n := range []int{1, 20, 256} {
			rows, out := make([]uint32, n), make([]float32, n)
			for i := range rows {
				rows[i] = r.Uint32N(BlockRows)
			}
			b.Run(fmt.Sprintf("%s/rows=%d", set.Name(), n), func(b *testing.B) {
				for b.Loop() {
					set.Scores(query, blocks, rows, out)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
			})
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]float32, 384), make([]float32, 384)
	for _, set := range All() {
		b.Run(set.Name(), func(b *testing.B) {
			for b.Loop() {
				_ = set.Dot(x, y)
			}
		})
	}
}
