package git

import (
	"context"
	"strconv"
	"strings"
)

// markConverted marks the files whose bytes git may have changed.
func markConverted(ctx context.Context, root string, settings Settings, files []IndexFile) error {
	var paths []byte
	places := map[string]int{}
	var doubtful []int // only line ends may have been converted
	for i, f := range files {
		if f.Found != PlainFile && f.Found != Program {
			continue
		}
		paths = append(append(paths, f.Path...), 0)
		places[f.Path] = i
		if settings.AutoCRLF != "" {
			files[i].IsConverted, files[i].IsText = true, true
			doubtful = append(doubtful, i)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	converting, err := listConverting(ctx, root, "", paths)
	if err != nil {
		return err
	}
	isSure := map[int]bool{}
	for _, a := range converting {
		i := places[a.path]
		switch {
		case a.value == "unset":
			files[i].IsText = files[i].IsText && a.name != "text"
			continue
		case a.name == "text" || a.name == "eol" || a.name == "crlf":
			files[i].IsText = true
			doubtful = append(doubtful, i)
		default:
			isSure[i] = true
		}
		files[i].IsConverted = true
	}
	return unmarkSameSize(ctx, root, files, doubtful, isSure)
}

// unmarkSameSize clears the mark of unchanged files that have as many bytes as their contents in git. A conversion of
// line ends makes a file longer or shorter, so they were not converted.
func unmarkSameSize(ctx context.Context, root string, files []IndexFile, doubtful []int, isSure map[int]bool) error {
	var asked []int
	var ids strings.Builder
	for _, i := range doubtful {
		if files[i].IsUnchanged && !isSure[i] {
			asked = append(asked, i)
			ids.WriteString(files[i].ID + "\n")
		}
	}
	if len(asked) == 0 {
		return nil
	}
	out, err := runWith(ctx, root, ids.String(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return err
	}
	sizes := strings.Split(string(out), "\n")
	for n, i := range asked {
		if n < len(sizes) && sizes[n] == strconv.FormatUint(uint64(files[i].size), 10) {
			files[i].IsConverted = false
		}
	}
	return nil
}
