package manifests

import (
	"fmt"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// CheckQuantity returns an error if a text is no quantity of Kubernetes, such as 100m or 1Gi.
func CheckQuantity(text string) error {
	if _, err := resource.ParseQuantity(text); err != nil {
		return fmt.Errorf("%.40q is no quantity, such as 100m or 128Mi", text)
	}
	return nil
}

// CheckSchedule returns an error if a text is no schedule of a CronJob.
func CheckSchedule(text string) error {
	if _, err := cron.ParseStandard(text); err != nil {
		return fmt.Errorf("%.40q is no schedule, such as 15 * * * *", text)
	}
	return nil
}

// equalQuantities reports whether two texts are the same quantity, such as 1000m and 1.
func equalQuantities(a, b string) bool {
	x, errX := resource.ParseQuantity(a)
	y, errY := resource.ParseQuantity(b)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

// isSmaller reports whether a quantity is smaller than another one. A text that is none is not.
func isSmaller(a, b string) bool {
	x, errX := resource.ParseQuantity(a)
	y, errY := resource.ParseQuantity(b)
	return errX == nil && errY == nil && x.Cmp(y) < 0
}
