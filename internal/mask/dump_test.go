package mask

import (
	"encoding/hex"
	"strings"
	"testing"
)

// dumps are what programs print of a file with a secret. Each was recorded.
var dumps = map[string]string{
	"xxd": `00000010: 723a 2072 6f6f 740a 7061 7373 776f 7264  r: root.password
00000020: 3a20 676c 7061 742d 586b 3239 664c 715f  : glpat-Xk29fLq_
00000030: 377a 522d 3331 6d54 6257 7161 0a68 6f73  7zR-31mTbWqa.hos
00000040: 743a 2064 622e 6578 616d 706c 652e 636f  t: db.example.co
`,
	"xxd -u -c 24 -g 1": `00000018: 70 61 73 73 77 6F 72 64 3A 20 67 6C 70 61 74 2D 58 6B 32 39 66 4C 71 5F  password: glpat-Xk29fLq_
00000030: 37 7A 52 2D 33 31 6D 54 62 57 71 61 0A 68 6F 73 74 3A 20 64 62 2E 65 78  7zR-31mTbWqa.host: db.ex
`,
	"xxd -p": `6b696e643a205365637265740a757365723a20726f6f740a70617373776f
72643a20676c7061742d586b3239664c715f377a522d33316d5462577161
0a686f73743a2064622e6578616d706c652e636f6d0a706f72743a203534
`,
	"xxd -i": `  0x70, 0x61, 0x73, 0x73, 0x77, 0x6f, 0x72, 0x64, 0x3a, 0x20, 0x67, 0x6c,
  0x70, 0x61, 0x74, 0x2d, 0x58, 0x6b, 0x32, 0x39, 0x66, 0x4c, 0x71, 0x5f,
  0x37, 0x7a, 0x52, 0x2d, 0x33, 0x31, 0x6d, 0x54, 0x62, 0x57, 0x71, 0x61,
  0x0a, 0x68, 0x6f, 0x73, 0x74, 0x3a, 0x20, 0x64, 0x62, 0x2e, 0x65, 0x78,
`,
	"hexdump -C": `00000010  72 3a 20 72 6f 6f 74 0a  70 61 73 73 77 6f 72 64  |r: root.password|
00000020  3a 20 67 6c 70 61 74 2d  58 6b 32 39 66 4c 71 5f  |: glpat-Xk29fLq_|
00000030  37 7a 52 2d 33 31 6d 54  62 57 71 61 0a 68 6f 73  |7zR-31mTbWqa.hos|
00000040  74 3a 20 64 62 2e 65 78  61 6d 70 6c 65 2e 63 6f  |t: db.example.co|
`,
	"od -A x -t x1z": `000010 72 3a 20 72 6f 6f 74 0a 70 61 73 73 77 6f 72 64  >r: root.password<
000020 3a 20 67 6c 70 61 74 2d 58 6b 32 39 66 4c 71 5f  >: glpat-Xk29fLq_<
000030 37 7a 52 2d 33 31 6d 54 62 57 71 61 0a 68 6f 73  >7zR-31mTbWqa.hos<
`,
	"od -t x1": `0000020 72 3a 20 72 6f 6f 74 0a 70 61 73 73 77 6f 72 64
0000040 3a 20 67 6c 70 61 74 2d 58 6b 32 39 66 4c 71 5f
0000060 37 7a 52 2d 33 31 6d 54 62 57 71 61 0a 68 6f 73
0000100 74 3a 20 64 62 2e 65 78 61 6d 70 6c 65 2e 63 6f
`,
	"hex of Python":           "732064 3a20676c 7061742d 586b3239 664c715f 377a522d 33316d54 62577161 0a686f73\n",
	"hex of Python, in lines": "2064643a 20676c70\n61742d58 6b323966\n4c715f37 7a522d33\n316d5462 5771610a\n",
	"basenc --base16":         "6F6F740A70617373776F72643A20676C7061742D\n586B3239664C715F377A522D33316D5462577161\n0A686F73743A2064622E6578616D706C652E636F\n",
	"openssl":                 "priv:\n    20:67:6c:70:61:74:2d:58:6b:32:39:66:4c:71:5f:\n    37:7a:52:2d:33:31:6d:54:62:57:71:61:0a\n",
	"base64 in YAML": `data: |
    a2luZDogU2VjcmV0CnVzZXI6IHJvb3QKcGFzc3dvcmQ6IGdscGF0LVhrMjlmTHFfN3pSLTMxbVRi
    V3FhCmhvc3Q6IGRiLmV4YW1wbGUuY29tCnBvcnQ6IDU0MzIK
`,
	"base64 of Python": `b'a2luZDogU2VjcmV0CnVzZXI6IHJvb3QKcGFzc3dvcmQ6IGdscGF0LVhrMjlmTHFfN3pSLTMxbVRi\nV3FhCmhvc3Q6IGRiLmV4YW1wbGUuY29tCnBvcnQ6IDU0MzIK\n'`,
	"base32 -w 40":     "NNUW4ZB2EBJWKY3SMV2AU5LTMVZDUIDSN5XXICTQ\nMFZXG53POJSDUIDHNRYGC5BNLBVTEOLGJRYV6N32\nKIWTGMLNKRRFO4LBBJUG643UHIQGIYROMV4GC3LQ\n",
	"iconv | base64": `awBpAG4AZAA6ACAAUwBlAGMAcgBlAHQACgB1AHMAZQByADoAIAByAG8AbwB0AAoAcABhAHMAcwB3
AG8AcgBkADoAIABnAGwAcABhAHQALQBYAGsAMgA5AGYATABxAF8ANwB6AFIALQAzADEAbQBUAGIA
VwBxAGEACgBoAG8AcwB0ADoAIABkAGIALgBlAHgAYQBtAHAAbABlAC4AYwBvAG0ACgBwAG8AcgB0
`,
}

// A secret is masked in what programs print, once, and no four characters of it stay in a
// column of text. What stands before the secret stays, and so does the next line.
func TestMaskingDumps(t *testing.T) {
	const secret = "glpat-Xk29fLq_7zR-31mTbWqa"
	m := New([]string{secret})
	for name, dump := range dumps {
		got := m.Text("a line\n" + dump + "another line\n")
		begin, end := "a line\n"+dump[:8], dump[len(dump)-1:]+"another line\n"
		if strings.Count(got, mask) != 1 || !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) {
			t.Errorf("%s: got\n%s", name, got)
		}
		for i := range len(secret) - 3 {
			if part := secret[i : i+4]; strings.Contains(got, part) {
				t.Errorf("%s: %q is visible in\n%s", name, part, got)
			}
		}
		for cut := range dump {
			stream := m.Stream()
			out := string(stream.Feed([]byte("a line\n" + dump[:cut])))
			out += string(stream.Feed([]byte(dump[cut:] + "another line\n")))
			if out += string(stream.Flush()); out != got {
				t.Errorf("%s: cut at %d: got\n%s\nwant\n%s", name, cut, out, got)
			}
		}
	}
}

// A secret is masked at each place of a dump.
func TestMaskingDumpsAnywhere(t *testing.T) {
	const secret = "glpat-Xk29fLq_7zR-31mTbWqa"
	m := New([]string{secret})
	for before := range 40 {
		got := m.Text(hex.Dump([]byte(strings.Repeat("~", before) + secret + strings.Repeat("}", 40))))
		isVisible := strings.Contains(got, "67 6c") || strings.Contains(got, "71 61") || strings.ContainsAny(got, "XkLqRmTW")
		if strings.Count(got, mask) != 1 || isVisible {
			t.Errorf("%d bytes before: got\n%s", before, got)
		}
	}
}
