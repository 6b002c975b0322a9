(function () {
  var made = document.getElementById("made"), old = document.getElementById("old");
  function tell() {
    var minutes = Math.floor((Date.now() - Date.parse(made.getAttribute("datetime"))) / 60000);
    if (minutes > 30) {
      var age = minutes < 120 ? minutes + " minutes" : minutes < 2880 ? Math.floor(minutes / 60) + " hours" : Math.floor(minutes / 1440) + " days";
      old.textContent = "This board is " + age + " old. ";
      if (document.title.indexOf("Old: ") !== 0) document.title = "Old: " + document.title;
    }
  }
  tell();
  setInterval(tell, 60000);
})();
