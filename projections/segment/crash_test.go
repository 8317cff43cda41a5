package segment

import (
	"errors"
	"testing"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/sealed/sealedtest"
)

func TestEveryStepBroken(t *testing.T) {
	sh := projtest.Generate(11, 1, 90)[0]
	vary(&sh)
	sealedtest.EveryStepBroken(t, sealedtest.Steps{
		Log: sh, AtLeast: 40,
		Open: func(dir string, d sealed.Disk) (projections.Projection, error) {
			return Open(dir, Options{SealRows: 32, CheckpointRows: 11, Logger: quiet, disk: d})
		},
		Verify: func(t *testing.T, p projections.Projection) error {
			damage, err := p.(*Projection).Verify(t.Context())
			for _, d := range damage {
				err = errors.Join(err, d)
			}
			return err
		},
	})
}
