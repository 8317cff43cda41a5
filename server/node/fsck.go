package node

import (
	"context"
	"fmt"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/server/api"
)

// Fsck implements api.Backend. It reads a view of the projection code, while the log and the
// projection continue.
func (n *Node) Fsck(ctx context.Context, _ api.FsckRequest, progress func(api.Progress)) (report api.FsckReport, err error) {
	if n.set == nil {
		return report, noRole(RoleProject)
	}
	if err := n.catchUp(ctx); err != nil {
		return report, err
	}
	p, release, err := n.set.Acquire(snapshots.Name)
	if err != nil {
		return report, err
	}
	defer release()
	v, err := p.(*snapshots.Code).View()
	if err != nil {
		return report, err
	}
	defer v.Close()
	if report.Watermark, err = v.Watermark(); err != nil {
		return report, err
	}
	m := newMeter(progress)
	begun := false
	done, faults, err := v.Check(ctx, func(_, total int) {
		if !begun {
			begun = true
			m.begin("check snapshots", int64(total))
		}
		m.add(1)
	})
	if err != nil {
		return report, fmt.Errorf("fsck: %w", err)
	}
	if begun {
		m.end()
	}
	report.OK, report.Faults = len(faults) == 0, []api.FsckFault{}
	report.Repositories, report.Commits, report.Snapshots = done.Repositories, done.Commits, done.Snapshots
	report.Chunks, report.Entries, report.Edges, report.Bytes, report.Unused = done.Chunks, done.Entries, done.Edges, done.Bytes, done.Unused
	for _, f := range faults {
		told := api.FsckFault{Repo: f.Repository, Commit: f.Commit, Map: string(f.Map), What: f.What}
		if f.Chunk != nil {
			told.Chunk = f.Chunk.String()
		}
		report.Faults = append(report.Faults, told)
	}
	report.More = len(faults) == snapshots.MaxFaults
	report.ElapsedMS = sinceMS(m.start)
	return report, nil
}
