package context

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

func TestBackgroundIsOrderedAndReadsBack(t *testing.T) {
	files, messages := map[uint32]float64{}, map[uint32]float64{}
	last := int64(-1)
	for i := 0; i < len(backgroundFile); i += backgroundEntry {
		k := binary.LittleEndian.Uint32(backgroundFile[i:])
		if int64(k) <= last {
			t.Fatalf("entry %d: term %d after %d", i/backgroundEntry, k, last)
		}
		last = int64(k)
		f, m := backgroundOf(term(k))
		if f > 0 {
			files[k] = f
		}
		if m > 0 {
			messages[k] = m
		}
	}
	if again := WriteBackground(files, messages); len(files) < 10_000 || !bytes.Equal(again, backgroundFile) {
		t.Errorf("%d terms, written again %d bytes of %d", len(files), len(again), len(backgroundFile))
	}
	if f, m := backgroundOf(termOf("=" + "nosuchidentifier")); f != 0 || m != 0 {
		t.Errorf("a term that is not there has %g and %g", f, m)
	}
}

func TestCommonWordsAreCommon(t *testing.T) {
	common, _ := backgroundOf(term(Terms("return")[0]))
	rare, _ := backgroundOf(term(Terms("kubernetes")[0]))
	if common < 0.2 || rare > 0.05 {
		t.Errorf("return is in %g of files, kubernetes in %g", common, rare)
	}
}

func TestSharesAreRoundedLittle(t *testing.T) {
	for _, s := range []float64{0.0002, 0.01, 0.3, 1} {
		if got := shareOf(shareByte(s)); math.Abs(got/s-1) > 0.02 {
			t.Errorf("%g is kept as %g", s, got)
		}
	}
	if shareByte(0) != 0 || shareOf(0) != 0 {
		t.Error("none is kept as some")
	}
}

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		n, all, elsewhere float64
		low, high         float64
	}{
		{0, 100, 0, 0, 0},      // unknown here and elsewhere
		{0, 100, 0.5, -3, -3},  // common elsewhere, unknown here
		{50, 100, 0, 3, 3},     // common here, unknown elsewhere
		{10, 100, 0.1, 0, 0.1}, // as elsewhere
		{0, 0, 0.1, -3, -3},    // nothing here
	} {
		if got := contrast(c.n, c.all, c.elsewhere); got < c.low-1e-9 || got > c.high+1e-9 {
			t.Errorf("contrast(%g, %g, %g) = %g, want %g to %g", c.n, c.all, c.elsewhere, got, c.low, c.high)
		}
	}
}
